import { type ToolSet, tool } from '@lastcall/core';
import { z } from 'zod';
import { noteKeysSchema } from '../../domain/notes/note-key.ts';
import { type Plan, planInputSchema } from '../../domain/plans/plan.ts';
import { assertPlans, listPlans, preparePlans, removePlans, writePlans } from '../../domain/plans/plans.ts';
import type { CycleContext } from '../cycle/cycle-context.ts';

const plansSchema = z.strictObject({ plans: z.array(planInputSchema).min(1).max(20) });
const nothingSchema = z.strictObject({});

/** An agent's plans. Writes are staged: they are in the transaction that settles the call, so running one again is right. */
export function planTools(here: () => CycleContext): ToolSet {
  return {
    set_plans: tool({
      description:
        'Sets plans of yours: you are woken with the instruction when one is due. Each has exactly one of cron, at, after.',
      effects: 'session',
      inputSchema: plansSchema,
      async execute({ plans }, ctx) {
        const { services, agent, read, stage } = here();
        const prepared = await read(async (db) => {
          const now = await services.store.transaction(async (tx) => tx.now());
          return await preparePlans(db, agent.id, plans, now, agent.limits);
        });
        stage(ctx, (tx) => writePlans(services, tx, agent.id, prepared));
        return { plans: prepared.map(({ key, schedule }) => ({ key, nextAt: toIso(schedule.nextAt) })) };
      },
    }),
    delete_plans: tool({
      description: 'Deletes plans of yours by their keys.',
      effects: 'session',
      inputSchema: noteKeysSchema,
      async execute({ keys }, ctx) {
        const { agent, read, stage } = here();
        await read((db) => assertPlans(db, agent.id, keys));
        stage(ctx, (tx) => removePlans(tx, agent.id, keys));
        return { deleted: keys };
      },
    }),
    get_plans: tool({
      description: 'Reads your plans: what they say, and when they are due next.',
      effects: 'none',
      inputSchema: nothingSchema,
      async execute() {
        const { agent, read } = here();
        return { plans: (await read((db) => listPlans(db, agent.id))).map(toRead) };
      },
    }),
  };
}

/** As a model reads it: times as text, nothing it cannot use. */
function toRead({ id: _id, at, nextAt, lastAt, createdAt: _created, updatedAt: _updated, ...plan }: Plan): object {
  const once = at === undefined ? {} : { at: toIso(at) };
  return { ...plan, ...once, nextAt: toIso(nextAt), lastAt: toIso(lastAt) };
}

function toIso(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
