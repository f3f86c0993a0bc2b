import { appendFileSync } from 'node:fs';
import { type SessionEvent, type Slice, slice, type ToolContext, tool } from '@lastcall/core';
import { type ConfigInput, defineConfig } from '@lastcall/gateway';

/** The file in the working directory of the gateway to which tools append a line for each real execution. */
export const EFFECTS = 'effects.log';

/** Ends the gateway if its test was aborted. */
const { TEST_PARENT } = process.env;
if (TEST_PARENT !== undefined)
  setInterval(() => {
    if (process.ppid !== Number(TEST_PARENT)) process.kill(process.pid, 'SIGKILL');
  }, 1_000).unref();

const inputSchema = { type: 'object', properties: { ref: { type: 'string' } }, required: ['ref'] } as const;

interface Acted extends SessionEvent {
  readonly type: 'Acted';
  readonly ref: string;
}

/** The effects of the agent, in its session. */
export const acts: Slice<readonly string[]> = slice<readonly string[]>('acts', {
  initial: [],
  on: { Acted: (refs, { ref }: Acted) => [...refs, ref] },
});

/** An external effect: one write, which a kill cannot split. Then it waits until the test releases it. */
async function act(
  { ref }: { ref: string },
  { toolName, toolCallId, idempotencyKey, session }: ToolContext,
): Promise<object> {
  session.dispatch<Acted>({ type: 'Acted', ref });
  appendFileSync(EFFECTS, `${JSON.stringify({ toolName, idempotencyKey, ref })}\n`);
  await report(toolName, toolCallId, { ref });
  return { done: ref };
}

/** Blocks the process for ever, once the test releases it. */
async function hang({ ref }: { ref: string }, { toolName, toolCallId, idempotencyKey }: ToolContext): Promise<never> {
  await report(toolName, toolCallId, { ref });
  appendFileSync(EFFECTS, `${JSON.stringify({ toolName, idempotencyKey, ref })}\n`);
  for (;;);
}

export async function report(toolName: string, callId: string, input: object): Promise<void> {
  const { LASTCALL_MODEL_URL = '', LASTCALL_MODEL_KEY = '' } = process.env;
  await fetch(`${LASTCALL_MODEL_URL}/tool`, {
    method: 'POST',
    headers: { authorization: `Bearer ${LASTCALL_MODEL_KEY}` },
    body: JSON.stringify({ toolName, callId, input }),
  });
}

const effect = { inputSchema, slices: [acts], execute: act };

/** Tools of every kind that a crash treats differently. */
const tools = {
  charge: tool({ description: 'Charges somebody. Must not happen twice.', ...effect }),
  record: tool({ description: 'Records something. May happen twice.', idempotent: true, ...effect }),
  transfer: tool({ description: 'Transfers something, if somebody approves.', approval: true, ...effect }),
  hang: tool({ description: 'Never ends.', inputSchema, effects: 'none', execute: hang }),
  look_up: {
    tool: tool({
      description: 'Looks something up.',
      inputSchema,
      effects: 'none',
      execute: ({ ref }: { ref: string }) => ({ found: ref }),
    }),
    executionType: 'internal',
  },
  confirm: {
    description: 'Asks the people in the space.',
    executionType: 'space',
    inputSchema,
    resultSchema: {
      type: 'object',
      properties: { confirmed: { type: 'boolean' } },
      required: ['confirmed'],
    },
  },
} satisfies ConfigInput['tools'];

// Most tests count messages, so the texts of their models are not posted.
const replies = process.env.TEST_REPLIES === 'text' ? 'text' : 'tools';

const agent = (name: string): NonNullable<ConfigInput['agents']>[number] => ({
  name,
  instructions: `You are ${name}.`,
  tools: Object.keys(tools),
  replies,
});

const people = [{ name: 'Ada', externalId: 'ada' }];

/** What a test's lastcall.config.mjs exports. Bert is in both spaces, and changes between them. */
export const processConfig: ConfigInput = defineConfig({
  agents: ['Anna', 'Bert', 'Cleo'].map(agent),
  tools,
  spaces: [
    { name: 'North', agents: ['Anna', 'Bert'], people },
    { name: 'South', agents: ['Bert', 'Cleo'], people: [{ name: 'Bob', externalId: 'bob' }] },
  ],
  limits: {
    graceMs: Number(process.env.TEST_GRACE_MS ?? 10_000),
    sweepMs: Number(process.env.TEST_SWEEP_MS ?? 1_000),
    retryMs: 100,
  },
});
