import type { LanguageModelV4 } from '@ai-sdk/provider';
import { type Entry, Transcript, type TranscriptJson } from '@lastcall/core';
import { type Machine, serializeMachine, compactMachine as shorten } from '@lastcall/machines';
import { compact } from '../../domain/transcript/compact.ts';
import { toCharacters } from '../../domain/transcript/estimate-tokens.ts';
import type { SessionState } from '../../domain/transcript/restore-session.ts';
import type { Services } from '../../ports/services.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import { fenced } from '../lease/lease.ts';
import type { ActiveRun } from '../run/active-run.ts';
import { summariseWithin, writeCompaction } from './compact-transcript.ts';

/** True if the machine is stored whole before the thread is released: the next run would read more rows than the agent's budget. */
export function isMachineOverBudget({ agent, past, rows }: ActiveRun, charactersWritten: number): boolean {
  return past.charactersOf(rows) + charactersWritten > toCharacters(agent.limits.consciousnessTokens);
}

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
  const json = shorten(stored, shorter);
  const { session, carried } = keptTurns(run);
  const state: SessionState = { seq, session, machine: json };
  await fenced(store, lease, async (tx, held) => {
    writeCompaction(held, { runId, seq }, { summary: summaries.join('\n'), carried });
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
