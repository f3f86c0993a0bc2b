import type { Entry } from '@lastcall/core';
import type { TranscriptRow } from '../../domain/transcript/load-transcript.ts';
import { isOfMachine } from '../../domain/transcript/machine-rows.ts';
import type { RunRow } from '../../ports/store/schema/tables.ts';
import type { HeldThread } from '../lease/lease.ts';
import type { ActiveRun, ConfiguredAgent } from '../run/active-run.ts';
import { startState } from '../run/run-state.ts';
import type { RunRequest, ThreadKind } from '../run/thread-kind.ts';
import { toSituation } from './load-situation.ts';
import type { Past } from './read-past.ts';
import type { LoadedThread, ThreadedAgent } from './read-thread.ts';

/** The data that was read for a thread that has work. */
export interface ActiveRunInputs {
  readonly held: HeldThread;
  readonly agent: ConfiguredAgent;
  readonly row: ThreadedAgent;
  readonly loaded: LoadedThread;
  readonly past: Past;
  readonly kind: ThreadKind;
  readonly request: RunRequest;
}

interface RunInputs extends Pick<ActiveRun, 'answers' | 'isTakenOver'> {
  readonly run: RunRow;
  readonly entries: readonly Entry[];
  readonly written: readonly TranscriptRow[];
}

export function toActiveRun(
  {
    held: { lease },
    agent,
    loaded: { rows, stored },
    past: { past, nextSeq, transcript, state },
    row,
    kind,
    request: { settings },
  }: ActiveRunInputs,
  { run, entries, written, ...rest }: RunInputs,
): ActiveRun {
  transcript.push(...entries.filter((entry) => !isOfMachine(entry)));
  return {
    lease,
    runId: run.id,
    number: run.number,
    mode: run.mode,
    entityId: run.entity_id,
    kind,
    settings,
    agent,
    transcript,
    past,
    rows: [...rows, ...written],
    written,
    situation: toSituation(row, stored),
    state,
    ...rest,
    isCancelRequested: run.cancel_requested_at !== null,
    start: startState({
      nextSeq: nextSeq + entries.length,
      activeSpaceId: kind.hasSpaces ? row.active_space_id : null,
      announcedSpaceId: run.active_in,
    }),
  };
}
