import { setTimeout as sleep } from 'node:timers/promises';
import { slice, tool } from '@lastcall/core';
import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { type TestGateway, type TestGatewayOptions, waitFor } from '@lastcall/gateway/testing';
import { z } from 'zod';

const inputSchema = z.object({}).loose();
const held = slice<number>('held', { initial: 0, on: { 'seat.held': (count) => count + 1 } });

/** Blocks `record_trip` and `send_fax` while a test keeps it closed, and calls `onAbort` at a cancel. */
export const gate: { current: Promise<void>; onAbort?: () => void } = { current: Promise.resolve() };

/** A hostile output of a tool, with markup. */
export const HOSTILE = '<img src=x onerror="document.title=\'taken\'"> [click](javascript:alert(1)) \u202Eevil';

/** Tools of each kind that a timeline shows. */
export const tools = {
  fetch_weather: tool({
    description: 'The weather.',
    inputSchema,
    effects: 'none',
    execute: ({ city }) => ({ city, sky: 'clear', celsius: 21 }),
  }),
  slow_weather: tool({
    description: 'The weather, after a moment.',
    inputSchema,
    effects: 'none',
    execute: async ({ city }) => {
      await sleep(30);
      return { city };
    },
  }),
  book_seats: tool({
    description: 'Books seats.',
    inputSchema,
    effects: 'session',
    execute: (_input, { session }) => {
      session.register(held);
      for (const seat of ['12A', '12B']) session.dispatch({ type: 'seat.held', seat } as { type: string });
      throw new Error('Row 12 is sold out.');
    },
  }),
  read_review: tool({ description: 'Reads a review.', inputSchema, effects: 'none', execute: () => HOSTILE }),
  confirm_booking: {
    description: 'Asks.',
    executionType: 'space',
    inputSchema: { type: 'object', properties: { question: { type: 'string' } } },
    resultSchema: { type: 'boolean' },
    display: { customUI: 'confirmAction' },
  },
  pay_invoice: tool({
    description: 'Pays.',
    inputSchema: z.object({ amount: z.number(), to: z.string() }),
    approval: true,
    execute: ({ amount, to }) => `Paid ${amount} to ${to}.`,
  }),
  record_trip: tool({
    description: 'Records a trip. Until it is let go, it does not come back.',
    inputSchema,
    idempotent: true,
    execute: async (_input, { abortSignal }) => {
      abortSignal.addEventListener('abort', () => gate.onAbort?.());
      await gate.current;
      return 'recorded';
    },
  }),
  send_fax: tool({
    description: 'Sends a fax. Until it is let go, it does not come back, and it must not be sent twice.',
    inputSchema,
    execute: async () => {
      await gate.current;
      return 'sent';
    },
  }),
  file_report: tool({ description: 'Files.', inputSchema, terminal: true, execute: ({ title }) => `Report: ${title}` }),
};

/** A reply with calls: each a name and its input. */
export function calls(...given: readonly (readonly [toolName: string, input?: object])[]): ScriptedReply {
  return { calls: given.map(([toolName, input = {}]) => ({ toolName, input })) };
}

/** Ada, Ben, the concierge with the scripted replies, and a scout that runs calls in parallel. */
export function deskOptions(replies: readonly ScriptedReply[], more: TestGatewayOptions = {}): TestGatewayOptions {
  const toolNames = Object.keys(tools);
  return {
    model: scriptedModel(replies),
    prices: { scripted: { input: 1, output: 2 } },
    tools,
    agents: [
      { name: 'Concierge', instructions: 'You book travels.', tools: toolNames, batch: { onError: 'cancel-rest' } },
      { name: 'Scout', instructions: 'You look around.', tools: toolNames, limits: { maxSteps: 1 } },
    ],
    spaces: [
      {
        name: 'Travel desk',
        agents: ['Concierge'],
        people: [
          { name: 'Ada', externalId: 'ada' },
          { name: 'Ben', externalId: 'ben' },
        ],
      },
      { name: 'Lookout', agents: ['Scout'], people: [{ name: 'Ada', externalId: 'ada' }] },
    ],
    ...more,
  };
}

/** An agent enters the space that woke it: calls that wait are shown there. */
export const enter: ScriptedReply = (request) => {
  const spaceId = /Space (\d+) \(/.exec(JSON.stringify(request.prompt))?.[1];
  return { toolName: 'enter_space', input: { spaceId } };
};

type Api = Pick<TestGateway, 'api'>;

/** Posts a message as Ada. Returns the id of its event for the agents. */
export async function say({ api }: Api, text: string, spaceName = 'Travel desk'): Promise<string> {
  const { items: spaces } = await api('/api/spaces');
  const space = spaces.find(({ name }: { name: string }) => name === spaceName);
  const { items: people } = await api('/api/entities?externalId=ada');
  const { id } = await api(`/api/spaces/${space.id}/messages`, { text, entityId: people[0].id });
  return `message:${id}`;
}

/** The run that an event woke, once it has one of these states. */
export async function runOf(
  { api }: Api,
  eventId: string,
  states = ['completed', 'waiting', 'failed', 'cancelled'],
): Promise<string> {
  const ended = async () => {
    const { items } = await api(`/api/runs?eventId=${encodeURIComponent(eventId)}`);
    const [run] = items as { id: string; status: string }[];
    return run !== undefined && states.includes(run.status) && run.id;
  };
  return await waitFor(ended, { timeoutMs: 60_000 });
}

/** Answers the waiting call of this tool as Ada. Returns the run that the answer woke, once it has ended. */
export async function answer({ api }: Api, toolName: string, given: object): Promise<string> {
  const { items } = await api('/api/pending?status=pending');
  const call = items.find((one: { toolName: string }) => one.toolName === toolName);
  const { items: people } = await api('/api/entities?externalId=ada');
  const { token } = await api(`/api/entities/${people[0].id}/token`, {});
  await api(`/api/runs/${call.runId}/tool-results`, { callId: call.callId, ...given }, { key: token });
  return await runOf({ api }, `tool_result:${call.callId}${call.kind === 'approval' ? ':decision' : ''}`);
}
