import { tool } from '@lastcall/core';
import { z } from 'zod';

export const add = tool({
  description: 'Adds two numbers.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});

export const finishWith = tool({
  description: 'Ends the task.',
  inputSchema: z.object({ total: z.number() }),
  terminal: true,
  execute: ({ total }) => ({ total }),
});
