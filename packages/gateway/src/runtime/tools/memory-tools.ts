import { type ToolSet, tool } from '@lastcall/core';
import { z } from 'zod';
import { assertMemories, prepareMemories, removeMemories, writeMemories } from '../../domain/memory/memories.ts';
import { memoryInputSchema } from '../../domain/memory/memory.ts';
import { noteKeysSchema } from '../../domain/memory/note-key.ts';
import type { BuiltInContext } from './built-in-context.ts';
import { deleted, keysOf, written } from './note-changes.ts';

const memoriesSchema = z.strictObject({ memories: z.array(memoryInputSchema).min(1).max(100) });

/**
 * The tools for an agent's memories. Writes are staged: they are part of the transaction that settles the call, so it
 * is safe to run a call again.
 */
export function memoryTools(currentContext: () => BuiltInContext): ToolSet {
  return {
    set_memories: tool({
      description: 'Stores facts for later runs.',
      effects: 'session',
      inputSchema: memoriesSchema,
      async execute({ memories }, ctx) {
        const { agent, read, stage, forked } = currentContext();
        const known = keysOf(forked?.situation().memories);
        const prepared = await read((db) => prepareMemories(db, agent.id, memories, agent.limits, known));
        stage(ctx, (tx) => writeMemories(tx, agent.id, prepared), written('memory', prepared));
        return { keys: prepared.map(({ key }) => key) };
      },
    }),
    delete_memories: tool({
      description: 'Deletes memories.',
      effects: 'session',
      inputSchema: noteKeysSchema,
      async execute({ keys }, ctx) {
        const { agent, read, stage, forked } = currentContext();
        await read((db) => assertMemories(db, agent.id, keys, keysOf(forked?.situation().memories)));
        stage(ctx, (tx) => removeMemories(tx, agent.id, keys), deleted('memory', keys));
        return { deleted: keys };
      },
    }),
  };
}
