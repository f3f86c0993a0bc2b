import { tool } from '@lastcall/core';
import { charter, node, spawn } from '@lastcall/machines';
import { z } from 'zod';
import { defineAgent } from '../../src/index.ts';

const machine = charter({
  nodes: {
    lead: node({
      instructions: 'Lead the guards.',
      transitions: {
        start: {
          description: 'Starts two guards.',
          inputSchema: z.object({}),
          targets: ['guard'],
          handler: () => spawn(['guard', 'guard']),
        },
      },
    }),
    guard: node({
      worker: true,
      instructions: 'Guard one door.',
      tools: {
        lock: tool({ description: 'Locks.', inputSchema: z.object({}), approval: true, execute: () => 'locked' }),
      },
    }),
  },
});

/** A machine that starts two workers, each of which waits for approval. */
export const guards = defineAgent({ machine });
