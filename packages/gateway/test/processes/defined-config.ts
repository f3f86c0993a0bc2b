import { appendFileSync } from 'node:fs';
import type { ToolContext } from '@lastcall/core';
import { planningSection, type Section, type SessionEvent, type Slice, section, slice, tool } from '@lastcall/core';
import { prompt } from '@lastcall/core/prompt';
import { type ConfigInput, defineAgent, defineConfig } from '@lastcall/gateway';
import type { Charter } from '@lastcall/machines';
import { crewCharter } from '../support/crew-charter.ts';
import { EFFECTS, processConfig, report } from './tools-config.ts';

interface Noted extends SessionEvent {
  readonly type: 'Noted';
  readonly ref: string;
}

/** What the clerk has done, in its session. */
export const ledger: Slice<readonly string[]> = slice<readonly string[]>('ledger', {
  initial: [],
  on: { Noted: (refs, { ref }: Noted) => [...refs, ref] },
});

const inputSchema = { type: 'object', properties: { ref: { type: 'string' } }, required: ['ref'] } as const;

/** Writes the same line to the session and to a file, and an external line too if it has external effects. Then waits for the test. */
const acting =
  (isOutside: boolean) =>
  async ({ ref }: { ref: string }, context: ToolContext): Promise<string> => {
    const { session, filesystem, toolName, toolCallId, idempotencyKey } = context;
    session.dispatch<Noted>({ type: 'Noted', ref });
    await filesystem.writeText('log.md', `${ref}\n`, { mode: 'append' });
    if (isOutside) appendFileSync(EFFECTS, `${JSON.stringify({ toolName, idempotencyKey, ref })}\n`);
    await report(toolName, toolCallId, { ref });
    return 'Done.';
  };

const outside = { inputSchema, slices: [ledger], execute: acting(true) };
const note = tool({
  description: 'Notes.',
  inputSchema,
  slices: [ledger],
  effects: 'session',
  execute: acting(false),
});
const bill = tool({ description: 'Bills. Must not happen twice.', ...outside });
const pay = tool({ description: 'Pays, if it is approved.', approval: true, ...outside });
const weigh = tool({ description: 'Weighs. Must not happen twice.', ...outside });

const orders: Section = section({
  key: 'orders',
  title: 'Orders',
  visibility: 'summary',
  summary: 'How to take orders.',
  template: 'Note each order.',
  tools: { note },
}) as Section;

/** The machine of the crew. */
export const crewMachine: Charter = crewCharter({ weigh, pay });

/** What the lastcall.config.mjs of a test about definitions exports. */
export const definedConfig: ConfigInput = defineConfig({
  definitions: {
    clerk: defineAgent({
      instructions: prompt({ ns: 'shop', key: 'clerk', sections: [orders, planningSection()] }),
      tools: { bill, pay },
      slices: [ledger],
      files: true,
    }),
    crew: defineAgent({ machine: crewMachine, slices: [ledger], files: true }),
  },
  agents: [
    { name: 'Clerk', definition: 'clerk' },
    { name: 'Crew', definition: 'crew' },
  ],
  ...(processConfig.limits === undefined ? {} : { limits: processConfig.limits }),
});
