import { type ToolSet, tool } from '@lastcall/core';
import { z } from 'zod';
import { goalInputSchema } from '../../domain/memory/goal.ts';
import { assertGoals, prepareGoals, removeGoals, writeGoals } from '../../domain/memory/goals.ts';
import { noteKeysSchema } from '../../domain/memory/note-key.ts';
import type { BuiltInContext } from './built-in-context.ts';
import { deleted, keysOf, written } from './note-changes.ts';

const goalsSchema = z.strictObject({ goals: z.array(goalInputSchema).min(1).max(100) });

/**
 * The tools for an agent's goals. Writes are staged: they are part of the transaction that settles the call, so it is
 * safe to run a call again.
 */
export function goalTools(currentContext: () => BuiltInContext): ToolSet {
  return {
    set_goals: tool({
      description: 'Adds or changes goals.',
      effects: 'session',
      inputSchema: goalsSchema,
      async execute({ goals }, ctx) {
        const { agent, read, stage, forked } = currentContext();
        const known = keysOf(forked?.situation().goals);
        const keyed = await read((db) => prepareGoals(db, agent.id, goals, agent.limits, known));
        stage(ctx, (tx) => writeGoals(tx, agent.id, keyed), written('goal', keyed));
        return { keys: keyed.map(({ key }) => key) };
      },
    }),
    delete_goals: tool({
      description: 'Deletes goals.',
      effects: 'session',
      inputSchema: noteKeysSchema,
      async execute({ keys }, ctx) {
        const { agent, read, stage, forked } = currentContext();
        await read((db) => assertGoals(db, agent.id, keys, keysOf(forked?.situation().goals)));
        stage(ctx, (tx) => removeGoals(tx, agent.id, keys), deleted('goal', keys));
        return { deleted: keys };
      },
    }),
  };
}
