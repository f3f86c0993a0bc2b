import type { Entry, Outcome, Usage } from '@lastcall/core';
import { addUsage, noUsage } from '@lastcall/core/internal';
import type { Kysely } from 'kysely';
import type { ModelPrices } from '../../config/prices.ts';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { costOf } from './cost.ts';

/** What a sub-agent did in a call: its replies, and the calls that they asked for. */
export interface SubAgentTurn {
  /** The call that ran the sub-agent. It may be a call of another sub-agent of the run. */
  readonly callId: string;
  readonly usage: Usage;
  /** Absent if the price of one of its models is not configured. */
  readonly cost?: number;
  readonly steps: readonly SubAgentStep[];
}

export interface SubAgentStep {
  readonly step: number;
  readonly text: string;
  readonly model?: string;
  readonly usage: Usage;
  readonly cost?: number;
  readonly calls: readonly SubAgentCall[];
}

interface SubAgentCall {
  readonly callId: string;
  readonly toolName: string;
  /** The arguments as the model wrote them. */
  readonly input: string;
  /** Absent if the sub-agent ended before the call did. */
  readonly status?: Outcome['status'];
  readonly output?: string;
  readonly startedAt?: number;
  readonly endedAt?: number;
}

/** Enough to see what happened. The model of the sub-agent read all of it. */
const MOST_CHARACTERS = 4_000;

/** The steps of a sub-agent, as they are stored. Long texts are cut. */
export function toSteps(entries: readonly Entry[]): readonly SubAgentStep[] {
  const ends = new Map(
    entries.flatMap((entry) =>
      entry.kind === 'settled' ? [[entry.settlement.callId, entry.settlement] as const] : [],
    ),
  );
  return entries.flatMap((entry) => {
    if (entry.kind !== 'reply') return [];
    const { step, text, model, usage, calls } = entry;
    const asked = calls.map(({ callId, toolName, input }): SubAgentCall => {
      const call = { callId, toolName, input: cut(input) };
      const end = ends.get(callId);
      if (end === undefined) return call;
      const { outcome, startedAt, endedAt } = end;
      return { ...call, status: outcome.status, output: cut(outcome.text), startedAt, endedAt };
    });
    return [{ step, text: cut(text), ...(model === undefined ? {} : { model }), usage, calls: asked }];
  });
}

function cut(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS).toWellFormed()}…`;
}

/** Stores what a sub-agent did. A call that ran again after a crash has done the last of it. */
export async function storeSubAgentTurn(
  tx: Tx,
  runId: string,
  { callId, steps }: Pick<SubAgentTurn, 'callId' | 'steps'>,
): Promise<void> {
  const values = { steps: toJson(steps), created_at: tx.now() };
  await tx.db
    .insertInto('sub_agent_turns')
    .values({ run_id: runId, call_id: callId, ...values })
    .onConflict((conflict) => conflict.columns(['run_id', 'call_id']).doUpdateSet(values))
    .execute();
}

/** What the sub-agents of a run did, in the order in which they ended. */
export async function subAgentTurns(
  db: Kysely<Tables>,
  runId: string,
  prices: ModelPrices | undefined,
): Promise<readonly SubAgentTurn[]> {
  const rows = await db
    .selectFrom('sub_agent_turns')
    .select(['call_id', 'steps'])
    .where('run_id', '=', runId)
    .orderBy('created_at')
    .orderBy('call_id')
    .execute();
  return rows.map(({ call_id: callId, steps }) => toTurn(callId, fromJson<SubAgentStep[]>(steps), prices));
}

function toTurn(callId: string, stored: readonly SubAgentStep[], prices: ModelPrices | undefined): SubAgentTurn {
  const steps = stored.map((step) => {
    const cost = costOf(step, prices);
    return cost === undefined ? step : { ...step, cost };
  });
  const usage = steps.reduce((sum, step) => addUsage(sum, step.usage), noUsage);
  const costs = steps.flatMap(({ cost }) => cost ?? []);
  const cost = costs.reduce((sum, one) => sum + one, 0);
  return { callId, usage, ...(costs.length === steps.length ? { cost: Math.round(cost * 1e9) / 1e9 } : {}), steps };
}

/** The turn of this call, and those of the sub-agents that it called, and so on. */
export function turnsWithin(callId: string, turns: readonly SubAgentTurn[]): readonly SubAgentTurn[] {
  const own = turns.find((turn) => turn.callId === callId);
  if (own === undefined) return [];
  const inner = own.steps.flatMap(({ calls }) => calls.flatMap((call) => turnsWithin(call.callId, turns)));
  return [own, ...inner];
}
