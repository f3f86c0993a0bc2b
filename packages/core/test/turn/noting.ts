import { z } from 'zod';
import { slice, tool } from '../../src/index.ts';

/** What the tools of these tests wrote, in order. The tests assert on this state. */
export const notes = slice<readonly string[]>('notes', {
  initial: [],
  on: { noted: (all, { what }: { type: string; what: string }) => [...all, what] },
});

/** Writes one note. */
export const note = tool({
  description: 'Notes.',
  inputSchema: z.object({ what: z.string() }),
  effects: 'session',
  execute: ({ what }, ctx) => {
    ctx.session.dispatch({ type: 'noted', what });
    return `noted ${what}`;
  },
});
