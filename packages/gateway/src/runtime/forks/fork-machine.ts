import { type Entry, LastcallError, type Settlement, Transcript } from '@lastcall/core';
import { type Instance, serializeMachine } from '@lastcall/machines';
import { changesOfCall, isTransitionOf } from '@lastcall/machines/internal';
import type { DefinedMachine } from '../../config/definitions.ts';
import { ApiError } from '../../domain/api-error.ts';
import { renumbered } from '../../domain/calls/call-number.ts';
import { invalid } from '../../domain/entities/invalid.ts';
import type { ForkChanges } from '../../domain/forks/fork.ts';
import { type OpenCall, renameOpenCalls } from '../../domain/forks/open-calls.ts';
import type { Run } from '../../domain/runs/run.ts';
import { loadRowsBefore, type TranscriptRow } from '../../domain/transcript/load-transcript.ts';
import { toSessionState } from '../../domain/transcript/restore-session.ts';
import { COMPACTION, type EntryRecord, fromCompactionPayload } from '../../domain/transcript/transcript-row.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Json } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { restoreMachine } from '../run/restore-machine.ts';

/** The machine of a run as it was before one of its requests. */
export interface ForkedMachine {
  /** The rows that it is made of. */
  readonly rows: readonly TranscriptRow[];
  /** Calls that had not ended: they wait, or an instance was about to make them while another one was asked. */
  readonly open: readonly OpenCall[];
}

/**
 * Restores the machine from what it had written before the request, as after a crash at that point. Throws if it cannot be restored: a
 * fork that could never run is refused.
 */
export async function machineBefore(
  { db }: Tx,
  { threadId }: Pick<Run, 'threadId'>,
  { seq, state, defined }: { readonly seq: number; readonly state: Json | null; readonly defined: DefinedMachine },
): Promise<ForkedMachine> {
  const rows = await loadRowsBefore(db, { threadId, seq });
  try {
    const { threads, tree } = serializeMachine(restoreMachine(defined, { rows, state: toSessionState(state) }));
    const answered = answeredIn(tree.root);
    const open = Object.values(threads)
      .flatMap(({ transcript }) => openCallsIn(Transcript.fromJSON(transcript).entries))
      .map((call) => ({ ...call, isAnswered: answered.has(call.callId) }));
    return { rows, open };
  } catch (error) {
    if (!(error instanceof LastcallError) || error.code !== 'stored_machine') throw error;
    throw new ApiError('not_forkable', `The run cannot be forked. ${whyNot(rows, error)}`, { cause: error });
  }
}

function whyNot([first]: readonly TranscriptRow[], { message }: LastcallError): string {
  if (first?.kind === COMPACTION && fromCompactionPayload(first.payload).machine === undefined)
    return 'What its machine was at that step is not stored any more: the transcript has been compacted twice since.';
  return `Its machine cannot be restored as it was at that step. ${message}`;
}

/** The calls that wait no more: their instances have the answers, and have not gone on yet. */
function answeredIn({ waits, children }: Instance): ReadonlySet<string> {
  const own = waits.flatMap(({ callId, answer }) => (answer === undefined ? [] : [callId]));
  return new Set([...own, ...children.flatMap((child) => [...answeredIn(child)])]);
}

type FoundCall = Omit<OpenCall, 'isAnswered'>;

function openCallsIn(entries: readonly Entry[]): readonly FoundCall[] {
  const open = new Map<string, FoundCall>();
  for (const entry of entries) {
    if (entry.kind === 'reply')
      for (const { callId } of entry.calls) open.set(callId, { callId, newId: renumbered(callId), status: 'planned' });
    else if (entry.kind === 'started') change(open, entry.callId, { status: 'started' });
    else if (entry.kind === 'pending')
      change(open, entry.settlement.callId, { status: 'pending', settlement: entry.settlement });
    else if (entry.kind === 'settled') open.delete(entry.settlement.callId);
  }
  return [...open.values()];
}

function change(
  open: Map<string, FoundCall>,
  callId: string,
  changed: Pick<OpenCall, 'status'> & { settlement?: Settlement },
): void {
  const known = open.get(callId);
  if (known !== undefined) open.set(callId, { ...known, ...changed });
}

/**
 * Gives new ids to the open calls of the copied machine, because a call has one row, which belongs to the original. What waits can
 * be answered in the fork.
 */
export async function copyOpenCalls(
  tx: Tx,
  { rows, open }: ForkedMachine,
  fork: { readonly contextId: string; readonly runId: string; readonly agentId: string },
): Promise<void> {
  if (open.length > 0) await renameOpenCalls(tx, { rows, open, ...fork });
}

/** What a transition did stays done, so its outcome cannot become another one before the step, nor a result after it. */
export async function assertNoTransitions(
  { db }: Tx,
  { id, threadId }: Run,
  { before, outcomes = {} }: { readonly before: number; readonly outcomes: ForkChanges['outcomes'] },
): Promise<void> {
  if (Object.keys(outcomes).length === 0) return;
  const rows = await db
    .selectFrom('transcript_entries')
    .select(['seq', 'payload'])
    .where('thread_id', '=', threadId)
    .where('run_id', '=', id)
    .where('kind', '=', 'settled')
    .execute();
  for (const { seq, payload } of rows) {
    const { entry, staged } = fromJson<EntryRecord>(payload);
    if (entry.kind !== 'settled') continue;
    const { callId } = entry.settlement;
    const changed = outcomes[callId];
    if (changed === undefined || !isTransitionOf(changesOfCall(staged))) continue;
    const path = `changes.outcomes.${callId}`;
    if (seq < before)
      throw invalid(
        path,
        'is a transition before the step, which has led to where the machine is. Fork at the step that took it.',
      );
    if ('result' in changed)
      throw invalid(path, 'is a transition, which has no result. Give it { error } or { deny }: then it is not taken.');
  }
}
