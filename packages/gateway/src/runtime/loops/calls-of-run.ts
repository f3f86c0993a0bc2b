import { callIds } from '../../domain/calls/call-number.ts';
import type { ActiveRun } from '../run/active-run.ts';

/** Makes the ids of the calls of a run. A fork counts on from the calls that it copied. */
export function newCallIds({ number, isTakenOver, fork, rows }: ActiveRun): () => string {
  const isBegun = isTakenOver || fork !== undefined;
  return callIds(number, isBegun ? rows.flatMap(({ payload }) => payload.match(UUIDS) ?? []) : []);
}

// A run that is taken over is rare, and its rows have many forms. A text that happens to look like one of its calls only leaves a gap.
const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
