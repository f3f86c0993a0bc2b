import { requires, section, slice, tool } from '@lastcall/core';
import { prompt } from '@lastcall/core/prompt';
import { type ScriptedModel, scriptedModel } from '@lastcall/core/testing';
import { z } from 'zod';
import { type AgentDefinition, defineAgent } from '../../src/index.ts';
import type { TestGateway } from '../../src/testing/index.ts';

/** A shop with a cart in the session. */
export const cart = slice('cart', {
  initial: [] as readonly string[],
  on: { Added: (items, { item }: { type: 'Added'; item: string }) => [...items, item] },
});

export const add_item = tool({
  description: 'Adds an item.',
  inputSchema: z.object({ item: z.string() }),
  effects: 'session',
  slices: [cart],
  execute({ item }, { session }) {
    session.dispatch({ type: 'Added', item });
    if (item === 'nothing') throw new Error('There is no such item.');
    return `${session.read(cart).length} in the cart`;
  },
});

export const pay = tool({
  description: 'Pays.',
  inputSchema: z.object({}),
  effects: 'session',
  execute: (_input, { session }) => `paid ${session.read(cart).join(', ')}`,
});

const orders = section({ key: 'orders', title: 'Orders', template: 'Take orders politely.' });

export function clerk(more: Partial<AgentDefinition> = {}): AgentDefinition {
  return defineAgent({
    instructions: prompt({ ns: 'shop', key: 'clerk', sections: [orders] }),
    tools: { add_item, pay },
    slices: [cart],
    policies: [requires({ pay: ['add_item'] })],
    ...more,
  });
}

/** The body of a chat request. */
export function ask(text: string, more: { readonly agent?: string; readonly context_id?: string } = {}): object {
  return more.context_id === undefined ? { agent: 'Clerk', message: text, ...more } : { message: text, ...more };
}

export const adding = (item: string) => [{ toolName: 'add_item', input: { item } }];

/** A long answer: with a small budget, the transcript is compacted after it. */
export const LONG: string = 'word '.repeat(2_000);

/** The events of an agent's inbox that have this status. */
export async function inbox(gateway: TestGateway, agentId: string, status: string): Promise<readonly object[]> {
  return (await gateway.api(`/api/agents/${agentId}/inbox?status=${status}`)).items;
}

/** Sends an event to the first agent, and returns the agent's id. */
export async function ping(gateway: TestGateway): Promise<string> {
  const [{ id }] = (await gateway.api('/api/agents')).items;
  await gateway.api(`/api/agents/${id}/events`, { source: 'test', name: 'ping' });
  return id;
}

/** A model whose script is used only for steps. Every summary of a compaction is the same text. */
export function withSummaries(model: ScriptedModel): ScriptedModel {
  const summary = scriptedModel(() => 'They shopped.');
  return { ...model, doGenerate: (options) => summary.doGenerate(options), requests: model.requests };
}
