import { slice, tool } from '@lastcall/core';
import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { type TestGatewayOptions, waitFor } from '@lastcall/gateway/testing';
import { z } from 'zod';
import type { Studio } from '../support/studio.ts';

const inputSchema = z.object({}).loose();
const held = slice<number>('held', { initial: 0, on: { 'seat.held': (count) => count + 1 } });

/** What a tool's output looks like that wants to be more than text. */
export const HOSTILE = '<img src=x onerror="document.title=\'taken\'"> [click](javascript:alert(1)) \u202Eevil';

/** Tools of each kind that a timeline shows. */
export const tools = {
  fetch_weather: tool({
    description: 'The weather.',
    inputSchema,
    effects: 'none',
    execute: ({ city }) => ({ city, sky: 'clear', celsius: 21 }),
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
  file_report: tool({ description: 'Files.', inputSchema, terminal: true, execute: ({ title }) => `Report: ${title}` }),
};

/** A reply with calls: each a name and its input. */
export function calls(...given: readonly (readonly [toolName: string, input?: object])[]): ScriptedReply {
  return { calls: given.map(([toolName, input = {}]) => ({ toolName, input })) };
}

export interface Place {
  spaceId: string;
}

/** Ada, Ben and the concierge, who says what the script says. */
export function deskOptions(place: Place, replies: readonly ScriptedReply[], more: object = {}): TestGatewayOptions {
  return {
    model: scriptedModel([() => ({ toolName: 'enter_space', input: { spaceId: place.spaceId } }), ...replies]),
    tools,
    agents: [
      {
        name: 'Concierge',
        instructions: 'You book travels.',
        tools: Object.keys(tools),
        batch: { onError: 'cancel-rest' },
        ...more,
      },
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
    ],
  } as TestGatewayOptions;
}

export async function placeOf({ gateway }: Studio): Promise<{ spaceId: string; ada: string; agentId: string }> {
  const { items: spaces } = await gateway.api('/api/spaces');
  const { items: people } = await gateway.api('/api/entities?kind=human');
  const { items: agents } = await gateway.api('/api/agents');
  const ada = people.find(({ displayName }: { displayName: string }) => displayName === 'Ada');
  return { spaceId: spaces[0].id, ada: ada.id, agentId: agents[0].id };
}

/** Says something as Ada, and gives the run that it woke once that has ended. */
export async function runOf(
  { gateway }: Studio,
  { spaceId, ada }: { spaceId: string; ada: string },
  text: string,
): Promise<string> {
  const { id } = await gateway.api(`/api/spaces/${spaceId}/messages`, { text, entityId: ada });
  return await endedRunOf({ gateway } as Studio, `message:${id}`);
}

export async function endedRunOf({ gateway }: Pick<Studio, 'gateway'>, eventId: string): Promise<string> {
  return await waitFor(async () => {
    const { items } = await gateway.api(`/api/runs?eventId=${encodeURIComponent(eventId)}`);
    const [run] = items as { id: string; status: string }[];
    return run !== undefined && run.status !== 'running' && run.id;
  });
}
