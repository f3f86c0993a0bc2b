import type { LanguageModelV4 } from '@ai-sdk/provider';
import { type Entry, Transcript, type TranscriptJson } from '@lastcall/core';
import { type Machine, serializeMachine, compactMachine as shorten } from '@lastcall/machines';
import { compact } from '../../domain/transcript/compact.ts';
import { toCharacters } from '../../domain/transcript/estimate-tokens.ts';
import type { TranscriptRow } from '../../domain/transcript/load-transcript.ts';
import type { SessionState } from '../../domain/transcript/restore-session.ts';
import { COMPACTION, fromCompactionPayload, toCompactionPayload } from '../../domain/transcript/transcript-row.ts';
import type { Services } from '../../ports/services.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import { fenced } from '../lease/lease.ts';
import type { ActiveRun } from '../run/active-run.ts';
import { summariseWithin, writeCompaction } from './compact-transcript.ts';

/** What a run knows about the size of its machine. */
interface MachineSize {
  /** The size of the rows that the run wrote. */
  readonly charactersWritten: number;
  /** The tokens of the largest conversation of an instance that was asked in the run. */
  readonly largestTokens: number;
}

/**
 * True if the machine is stored whole before the thread is released: a conversation is over the agent's budget, or a worker that restores
 * the machine would read many more rows than for a conversation of that size. A large machine gets more rows, up to its own size: then
 * storing it costs no more per row than storing a small one, and reading it at most twice as much.
 */
export function isMachineOverBudget({ agent, past, rows }: ActiveRun, size: MachineSize): boolean {
  const { consciousnessTokens } = agent.limits;
  const snapshot = rows[0]?.kind === COMPACTION ? rows[0].payload.length : 0;
  const since = past.charactersOf(rows) - snapshot + size.charactersWritten;
  const most = Math.max(ROWS_PER_TEXT * toCharacters(consciousnessTokens), snapshot);
  return size.largestTokens > consciousnessTokens || since > most;
}

/**
 * Rows of short messages and calls have about this many characters for each that a model reads of them: the rest are ids, times and fields.
 * With fewer, a machine that says little would be stored whole long before its conversations are too long, and read again each time.
 */
const ROWS_PER_TEXT = 12;

interface MachineCompaction {
  readonly machine: Machine;
  /** The number of the next transcript row. */
  readonly nextSeq: number;
  readonly model: LanguageModelV4;
  readonly signal: AbortSignal;
}

/**
 * Stores the machine whole, so that the next run does not read the rows before. The conversation of each instance that is over the agent's
 * budget is compacted on its own.
 */
export async function compactMachine(
  { store }: Services,
  run: ActiveRun,
  { machine, nextSeq: seq, model, signal }: MachineCompaction,
): Promise<boolean> {
  const { lease, runId, agent } = run;
  const { consciousnessTokens: budgetTokens, cycleTimeoutMs: timeoutMs } = agent.limits;
  const stored = serializeMachine(machine);
  const shorter: Record<string, TranscriptJson> = {};
  const summaries: string[] = [];
  const summarise = summariseWithin({ model, signal, timeoutMs });
  for (const [id, { transcript, logged }] of Object.entries(stored.threads)) {
    const { entries } = Transcript.fromJSON(transcript);
    const isMidStep = logged < entries.length;
    const compaction = isMidStep ? undefined : await compact({ entries, budgetTokens, summarise });
    if (compaction === undefined) continue;
    shorter[id] = new Transcript(compaction.carried).toJSON();
    summaries.push(`${id}: ${compaction.summary}`);
  }
  const snapshot = shorten(stored, shorter);
  const { session, carried } = keptTurns(run);
  const state: SessionState = { seq, session };
  await fenced(store, lease, async (tx, held) => {
    writeCompaction(held, { runId, seq }, { summary: summaries.join('\n'), carried, machine: snapshot });
    await dropSnapshot(tx, lease.threadId, run.rows[0]);
    await tx.db
      .updateTable('threads')
      .set({ state: toJson(state) })
      .where('id', '=', lease.threadId)
      .execute();
  });
  return true;
}

/** The session and the conversation of an agent that was no machine before, and may become such an agent again. */
function keptTurns({ transcript: { entries }, past, state }: ActiveRun): {
  readonly session: unknown;
  readonly carried: readonly Entry[];
} {
  // Each run of a machine adds its end to the entries.
  const last = entries.findLastIndex(({ kind }) => kind !== 'stop');
  if (last === -1) return { session: state?.session ?? null, carried: [] };
  return { session: past.session(state).toJSON(), carried: entries.slice(0, last + 2) };
}

/**
 * Removes the snapshot before the last one. Otherwise each would stay for ever. The last one stays, because the requests of the newest runs
 * are made of it, and their forks begin with it.
 */
async function dropSnapshot(tx: Tx, threadId: string, first: TranscriptRow | undefined): Promise<void> {
  if (first?.kind !== COMPACTION) return;
  const row = await tx.db
    .selectFrom('transcript_entries')
    .select(['seq', 'payload'])
    .where('thread_id', '=', threadId)
    .where('kind', '=', COMPACTION)
    .where('seq', '<', first.seq)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return;
  const { summary, carried } = fromCompactionPayload(row.payload);
  await tx.db
    .updateTable('transcript_entries')
    .set({ payload: toCompactionPayload({ summary, carried }) })
    .where('thread_id', '=', threadId)
    .where('seq', '=', row.seq)
    .execute();
}
