import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createSession, type Session, slice, type ToolSet, tool } from '@lastcall/core';
import { type CrashScenario, scriptedModel } from '@lastcall/core/testing';
import { z } from 'zod';

interface Noted {
  readonly type: 'Noted';
  readonly what: string;
}

export const notes = slice<readonly string[]>('notes', {
  initial: [],
  on: { Noted: (all, { what }: Noted) => [...all, what] },
});

/** Changes the session, has an external effect, waits for approval, and has an idempotent external effect. */
const SCRIPT = [
  [{ toolName: 'note', input: { what: 'chair' } }, { toolName: 'charge' }],
  [{ toolName: 'ship' }],
  [{ toolName: 'mail' }, { toolName: 'note', input: { what: 'shipped' } }],
  'Done.',
];

/** External effects are lines in a file, which outlives the process. */
export function orderDesk(world: string): CrashScenario & { session: () => Session; effects: () => readonly string[] } {
  const act = (what: string): void => appendFileSync(world, `${what}\n`);
  const nothing = z.object({});
  const tools: ToolSet = {
    note: tool({
      description: 'Notes something.',
      inputSchema: z.object({ what: z.string() }),
      effects: 'session',
      execute: ({ what }, { session }) => session.dispatch<Noted>({ type: 'Noted', what }),
    }),
    charge: tool({ description: 'Charges the card.', inputSchema: nothing, execute: () => act('charged') }),
    ship: tool({ description: 'Ships it.', inputSchema: nothing, approval: true, execute: () => act('shipped') }),
    mail: tool({
      description: 'Sends a mail.',
      inputSchema: nothing,
      idempotent: true,
      // Like a service with idempotency keys.
      execute: (_input, { idempotencyKey }) => {
        if (!effectsIn(world).includes(idempotencyKey)) act(idempotencyKey);
      },
    }),
  };
  return {
    turn: () => ({ prompt: 'Buy a chair.', tools }),
    model: (replies) => scriptedModel(SCRIPT.slice(replies)),
    session: () => createSession({ slices: [notes] }),
    answer: () => ({ approve: true }),
    effects: () => effectsIn(world),
  };
}

export function effectsIn(world: string): readonly string[] {
  return existsSync(world) ? readFileSync(world, 'utf8').trimEnd().split('\n') : [];
}
