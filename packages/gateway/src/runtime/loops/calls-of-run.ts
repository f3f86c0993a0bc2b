import { callIds } from '../../domain/calls/call-number.ts';
import type { ActiveRun } from '../run/active-run.ts';

/** Makes the ids of the calls of a run. */
export function newCallIds({ number, isTakenOver, rows }: ActiveRun): () => string {
  return callIds(number, isTakenOver ? rows.flatMap(({ payload }) => payload.match(UUIDS) ?? []) : []);
}

// A run that is taken over is rare, and its rows have many forms. A text that happens to look like one of its calls only leaves a gap.
const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
