import { type ToolSet, tool } from '@lastcall/core';
import { z } from 'zod';
import { goalInputSchema } from '../../domain/notes/goal.ts';
import { assertGoals, prepareGoals, removeGoals, writeGoals } from '../../domain/notes/goals.ts';
import { noteKeysSchema } from '../../domain/notes/note-key.ts';
import type { CycleContext } from '../cycle/cycle-context.ts';

const goalsSchema = z.strictObject({ goals: z.array(goalInputSchema).min(1).max(100) });

/** An agent's goals. Writes are staged: they are in the transaction that settles the call, so running one again is right. */
export function goalTools(here: () => CycleContext): ToolSet {
  return {
    set_goals: tool({
      description:
        'Sets goals of yours: new ones, or those of the keys you give. They are shown to you in every cycle.',
      effects: 'session',
      inputSchema: goalsSchema,
      async execute({ goals }, ctx) {
        const { agent, read, stage } = here();
        const keyed = await read((db) => prepareGoals(db, agent.id, goals, agent.limits));
        stage(ctx, (tx) => writeGoals(tx, agent.id, keyed));
        return { keys: keyed.map(({ key }) => key) };
      },
    }),
    delete_goals: tool({
      description: 'Deletes goals of yours by their keys.',
      effects: 'session',
      inputSchema: noteKeysSchema,
      async execute({ keys }, ctx) {
        const { agent, read, stage } = here();
        await read((db) => assertGoals(db, agent.id, keys));
        stage(ctx, (tx) => removeGoals(tx, agent.id, keys));
        return { deleted: keys };
      },
    }),
  };
}
