import type { Entry } from '@lastcall/core';
import type { TranscriptRow } from '../../domain/transcript/load-transcript.ts';
import { isOfMachine } from '../../domain/transcript/machine-rows.ts';
import type { RunRow } from '../../ports/store/schema/tables.ts';
import { type ActiveFork, spaceOfFork } from '../forks/active-fork.ts';
import type { HeldThread } from '../lease/lease.ts';
import type { ActiveRun, ConfiguredAgent } from '../run/active-run.ts';
import { startState } from '../run/run-state.ts';
import { sentSince } from '../run/sent-since.ts';
import type { RunRequest, ThreadKind } from '../run/thread-kind.ts';
import { toSituation } from './load-situation.ts';
import type { Past } from './read-past.ts';
import type { LoadedThread, ThreadedAgent } from './read-thread.ts';
import type { WakingSpace } from './waking-space.ts';

/** The data that was read for a thread that has work. */
export interface ActiveRunInputs {
  readonly held: HeldThread;
  readonly agent: ConfiguredAgent;
  readonly row: ThreadedAgent;
  readonly loaded: LoadedThread;
  readonly past: Past;
  readonly kind: ThreadKind;
  readonly request: RunRequest;
  /** Set if the thread is a fork. */
  readonly fork: ActiveFork | undefined;
}

interface RunInputs extends Pick<ActiveRun, 'answers' | 'isTakenOver' | 'earlierEntries'> {
  readonly run: RunRow;
  readonly entries: readonly Entry[];
  readonly written: readonly TranscriptRow[];
  readonly waking: WakingSpace | undefined;
}

export function toActiveRun(
  {
    held: { lease },
    agent,
    loaded: { rows, stored },
    past: { past, nextSeq, transcript, state, flaw },
    row,
    kind,
    request: { settings },
    fork,
  }: ActiveRunInputs,
  { run, entries, written, waking, ...rest }: RunInputs,
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
    fork,
    state,
    ...rest,
    isCancelRequested: run.cancel_requested_at !== null,
    start: startState({
      nextSeq: nextSeq + entries.length,
      activeSpaceId: fork === undefined ? (kind.hasSpaces ? row.active_space_id : null) : spaceOfFork(fork),
      announcedSpaceId: run.active_in,
      mayWait: rest.isTakenOver,
      replyIn: replySpace(agent, waking, rest.isTakenOver && flaw === undefined ? rows : []),
    }),
  };
}

/** The space in which text that ends the run is posted. Null if the text stays private, or the agent has sent a message there. */
function replySpace(
  { config: { replies = 'text', terminating }, setup: { definition } }: ConfiguredAgent,
  waking: WakingSpace | undefined,
  rows: readonly TranscriptRow[],
): string | null {
  // Under a contract text does not end a run.
  if (replies !== 'text' || terminating !== undefined || waking?.isAwaited !== true) return null;
  const sent = sentSince(rows, { isMachine: definition?.machine !== undefined });
  return sent.has(waking.spaceId) ? null : waking.spaceId;
}
