import { ok, type ToolSet, tool } from '@lastcall/core';
import { z } from 'zod';
import type { SituationPlan } from '../../domain/agents/describe-agent.ts';
import { planInWords } from '../../domain/agents/situation-words.ts';
import { noteKeysSchema } from '../../domain/memory/note-key.ts';
import { type Plan, type PlanSetter, planInputSchema } from '../../domain/plans/plan.ts';
import {
  assertOwnPlans,
  type KnownPlans,
  listPlans,
  preparePlans,
  removeOwnPlans,
  writePlans,
} from '../../domain/plans/plans.ts';
import type { BuiltInContext, ForkedContext } from './built-in-context.ts';
import { deleted, written } from './note-changes.ts';

const plansSchema = z.strictObject({ plans: z.array(planInputSchema).min(1).max(20) });
const nothingSchema = z.strictObject({});

/**
 * The tools for an agent's plans. Writes are staged: they are part of the transaction that settles the call, so it is
 * safe to run a call again.
 */
export function planTools(currentContext: () => BuiltInContext): ToolSet {
  return {
    set_plans: tool({
      description: 'Wakes you by cron, at an ISO time, or after e.g. PT30M.',
      effects: 'session',
      inputSchema: plansSchema,
      async execute({ plans }, ctx) {
        const { services, agent, read, stage, forked } = currentContext();
        const prepared = await read(async (db) => {
          const now = await services.store.transaction(async (tx) => tx.now());
          return await preparePlans(db, agent.id, plans, { now, limits: agent.limits, known: plansIn(forked) });
        });
        stage(ctx, (tx) => writePlans(tx, agent.id, prepared, { limits: agent.limits }), written('plan', prepared));
        return { plans: prepared.map(({ key, schedule }) => ({ key, nextAt: toIso(schedule.nextAt) })) };
      },
    }),
    delete_plans: tool({
      description: 'Deletes plans.',
      effects: 'session',
      inputSchema: noteKeysSchema,
      async execute({ keys }, ctx) {
        const { agent, read, stage, forked } = currentContext();
        await read((db) => assertOwnPlans(db, agent.id, keys, plansIn(forked)));
        stage(ctx, (tx) => removeOwnPlans(tx, agent.id, keys), deleted('plan', keys));
        return { deleted: keys };
      },
    }),
    get_plans: tool({
      description: 'Lists your plans.',
      effects: 'none',
      inputSchema: nothingSchema,
      async execute() {
        const { agent, read, forked } = currentContext();
        const plans =
          forked?.situation().plans.map(toSimulated) ?? (await read((db) => listPlans(db, agent.id))).map(toRead);
        const lines = plans.map((plan) => planInWords({ ...plan }));
        return ok({ plans }, lines.length === 0 ? 'No plans.' : lines.join('\n'), { excludeValueFromContext: true });
      },
    }),
  };
}

/** The plans of a fork. Undefined outside of one: then the store knows them. */
function plansIn(forked: ForkedContext | undefined): KnownPlans | undefined {
  if (forked === undefined) return undefined;
  const { plans } = forked.situation();
  return new Map(plans.map(({ key, nextAt, setBy }) => [key, { nextAt: nextAt ?? null, setBy: setBy ?? AGENT }]));
}

const AGENT: PlanSetter = 'agent';

function toSimulated({ nextAt, ...plan }: SituationPlan): object {
  return { ...plan, nextAt: toIso(nextAt), lastAt: null };
}

/** Converts a plan to what a model reads: times are text, and fields that a model cannot use are left out. */
function toRead({ id: _id, at, nextAt, lastAt, createdAt: _created, updatedAt: _updated, ...plan }: Plan): object {
  const once = at === undefined ? {} : { at: toIso(at) };
  return { ...plan, ...once, nextAt: toIso(nextAt), lastAt: toIso(lastAt) };
}

function toIso(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
