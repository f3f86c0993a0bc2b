import { tool } from '@lastcall/core';
import type { TestGatewayOptions } from '@lastcall/gateway/testing';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { z } from 'zod';

const inputSchema = { type: 'object', properties: { question: { type: 'string' } }, required: ['question'] } as const;

/** The same text except for the last words. */
export const CLAUSES = ['today', 'tomorrow', 'next week', 'next month', 'next year', 'some day', 'never'].map(
  (when) => `${'The buyer pays, whatever happens to the goods on their way, '.repeat(4)}${when}.`,
);

/** A desk where an agent that follows rules asks for everything that cards can answer. */
export function askingDesk(): TestGatewayOptions {
  return {
    agents: [
      {
        name: 'Clerk',
        instructions: 'Ask.',
        tools: ['lend_key', 'pick_colour', 'pick_room', 'wire_money', 'open_vault', 'sign_pledge', 'choose_clause'],
      },
    ],
    tools: {
      lend_key: {
        executionType: 'space',
        description: 'Lend the key?',
        inputSchema,
        resultSchema: { type: 'boolean' },
      },
      pick_colour: {
        executionType: 'space',
        description: 'Which colour?',
        inputSchema,
        resultSchema: { type: 'object', properties: { colour: { enum: ['red', 'green'] } }, required: ['colour'] },
        // Long enough for an answer on a busy machine.
        expiresInMs: 10_000,
      },
      // An unknown component, and a schema that no form can show.
      pick_room: {
        executionType: 'space',
        description: 'Which room?',
        inputSchema,
        resultSchema: { type: 'object', additionalProperties: { type: 'integer' }, minProperties: 1 },
        display: { customUI: 'floorPlan' },
        expiresInMs: 3_600_000,
      },
      open_vault: {
        executionType: 'space',
        description: 'Open the vault?',
        inputSchema,
        resultSchema: { type: 'boolean' },
        answerers: { roles: ['boss'] },
        expiresInMs: 7_200_000,
      },
      choose_clause: {
        executionType: 'space',
        description: 'Which clause?',
        inputSchema,
        resultSchema: { type: 'string', enum: CLAUSES },
      },
      // The form cannot know before that only a yes is valid.
      sign_pledge: {
        executionType: 'space',
        description: 'Sign the pledge?',
        inputSchema,
        resultSchema: { type: 'boolean', const: true },
      },
      wire_money: tool({
        description: 'Wire money.',
        inputSchema: z.object({ amount: z.number().positive(), to: z.string().min(1).max(40) }),
        approval: true,
        execute: ({ amount, to }) => `${amount} to ${to}`,
      }),
    },
    spaces: [
      {
        name: 'Desk',
        agents: ['Clerk'],
        people: [
          { name: 'Ada', externalId: 'ada', role: 'boss' },
          { name: 'Ben', externalId: 'ben' },
        ],
      },
    ],
  };
}

export const cardOf = (page: Page, name: RegExp): Locator => page.getByRole('region', { name });

export async function say(page: Page, text: string): Promise<void> {
  const field = page.getByRole('textbox', { name: /^Write to/ });
  await field.fill(text);
  await field.press('Enter');
  await expect.poll(() => field.inputValue()).toBe('');
}

/** Holds the answers of the page on their way to the gateway, until the returned function is called. */
export async function holdAnswers(page: Page): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route('**/tool-results', async (route) => {
    await promise;
    await route.continue();
  });
  return resolve;
}

/** Scrolls by a pixel up and down, as a list does while an agent writes, until the returned function is called. */
export async function keepScrolling(scroller: Locator): Promise<() => Promise<void>> {
  const timer = await scroller.evaluateHandle(
    (one) =>
      new Promise<number>((resolve) => {
        let count = 0;
        const timer = window.setInterval(() => {
          one.scrollTop += count % 2 === 0 ? -1 : 1;
          count += 1;
          if (count === 5) resolve(timer);
        }, 20);
      }),
  );
  return () => timer.evaluate((id) => clearInterval(id));
}
