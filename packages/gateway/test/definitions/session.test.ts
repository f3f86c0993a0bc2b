import { requires, slice, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/index.ts';
import { startTestGateway } from '../../src/testing/index.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { add_item, adding, ask, cart, clerk, inbox, LONG, ping, withSummaries } from './shop.ts';

const agents = [{ name: 'Clerk', definition: 'clerk' }];

describe('the session of an agent', () => {
  it('[A4] [A7] each conversation has its own session, which keeps the writes of successful calls', async () => {
    const model = scriptedModel([adding('chair'), 'One.', adding('nothing'), 'Failed.', adding('lamp'), 'Two.']);
    await using gateway = await startTestGateway({ model, definitions: { clerk: clerk() }, agents });
    const { context_id } = await gateway.api('/api/chat', ask('A chair.'));
    await gateway.api('/api/chat', ask('Something that fails.', { context_id }));
    const other = await gateway.api('/api/chat', ask('A lamp.'));
    const [{ id }] = (await gateway.api('/api/agents')).items;
    const slicesOf = async (contextId: string) =>
      (await gateway.api(`/api/agents/${id}/session?contextId=${contextId}`)).slices;
    expect((await slicesOf(context_id)).cart).toEqual({ version: 1, state: ['chair'] });
    expect((await slicesOf(other.context_id)).cart).toEqual({ version: 1, state: ['lamp'] });
    expect((await gateway.api(`/api/agents/${id}/session`)).slices.cart).toBeUndefined();
  });

  it('[A7] only operators with all rights see a session', async () => {
    await using gateway = await startTestGateway({ definitions: { clerk: clerk() }, agents });
    const [{ id }] = (await gateway.api('/api/agents')).items;
    const { key } = await gateway.api('/api/keys', { name: 'reader', scopes: ['read'] });
    expect((await gateway.request(`/api/agents/${id}/session`, undefined, { key })).status).toBe(403);
    expect((await gateway.request(`/api/agents/nobody/session`)).status).toBe(404);
    expect((await gateway.request(`/api/agents/${id}/session?contextId=none`)).status).toBe(404);
  });

  it('[A4] the writes of a call are kept after an approval, and after compactions', async () => {
    const approved = tool({
      description: 'Pays.',
      inputSchema: z.object({}),
      approval: true,
      effects: 'session',
      execute: (_input, { session }) => `paid ${session.read(cart).join(', ')}`,
    });
    const paying = [{ toolName: 'pay', input: {} }];
    const model = withSummaries(scriptedModel([adding('chair'), LONG, adding('lamp'), LONG, paying, 'Paid.']));
    await using gateway = await startTestGateway({
      model,
      definitions: {
        clerk: clerk({ tools: { add_item, pay: approved }, policies: [requires({ pay: ['add_item'] })] }),
      },
      agents: [{ name: 'Clerk', definition: 'clerk', limits: { consciousnessTokens: 1_000 } }],
    });
    const { context_id } = await gateway.api('/api/chat', ask('A chair.'));
    await gateway.api('/api/chat', ask('A lamp.', { context_id }));
    const waiting = await gateway.api('/api/chat', ask('Pay.', { context_id }));
    const [{ tool_call_id }] = waiting.pending_calls;
    await gateway.api(`/api/runs/${waiting.run_id}/tool-results`, { callId: tool_call_id, approve: true });
    const paid = async () => (await gateway.api('/api/runs?toolName=pay&outcome=ok')).items;
    await expect.poll(paid).toHaveLength(1);
    expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain('paid chair, lamp');
    expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain('They shopped.');
  });

  it('[A5] a tool that only reads a slice that no definition lists works, also after a compaction', async () => {
    const look = tool({
      description: 'Looks.',
      inputSchema: z.object({}),
      effects: 'none',
      execute: (_input, { session }) => `cart: ${session.read(cart).join(', ') || 'empty'}`,
    });
    const looking = [{ toolName: 'look', input: {} }];
    const model = withSummaries(scriptedModel([looking, LONG, adding('chair'), LONG, looking, 'Seen.']));
    await using gateway = await startTestGateway({
      model,
      definitions: { clerk: defineAgent({ tools: { look, add_item: { tool: add_item } } }) },
      agents: [{ name: 'Clerk', definition: 'clerk', limits: { consciousnessTokens: 1_000 } }],
    });
    const { context_id } = await gateway.api('/api/chat', ask('Look.'));
    await gateway.api('/api/chat', ask('Add.', { context_id }));
    expect((await gateway.api('/api/chat', ask('Look.', { context_id }))).response).toBe('Seen.');
    expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain('cart: chair');
  });

  it('[A6] a newer version of a slice uses its migrate; without one the run fails once, the events wait, and nothing is overwritten', async () => {
    const home = await scratchFolder('session');
    {
      const model = scriptedModel([adding('chair'), 'Added.']);
      await using gateway = await startTestGateway({ home, model, definitions: { clerk: clerk() }, agents });
      const id = await ping(gateway);
      await expect.poll(() => inbox(gateway, id, 'done')).toHaveLength(1);
    }
    const newer = slice('cart', {
      version: 2,
      initial: { items: [] as readonly string[] },
      on: { Added: (state, { item }: { type: 'Added'; item: string }) => ({ items: [...state.items, item] }) },
    });
    const count = (own: typeof newer) =>
      tool({
        description: 'Counts.',
        inputSchema: z.object({}),
        effects: 'none',
        slices: [own],
        execute: (_input, { session }) => session.read(own).items,
      });
    {
      const definition = defineAgent({ tools: { count: count(newer) }, slices: [newer] });
      await using gateway = await startTestGateway({ home, definitions: { clerk: definition }, agents });
      const id = await ping(gateway);
      await expect.poll(async () => (await gateway.api(`/api/agents/${id}`)).status).toBe('invalid');
      const { lastError } = await gateway.api(`/api/agents/${id}`);
      expect(JSON.stringify(lastError)).toContain(
        'Slice \\"cart\\" is stored in version 1, and its definition is version 2. Give the slice a migrate(state, fromVersion) that makes version 2 of version 1.',
      );
      expect(await inbox(gateway, id, 'pending')).toMatchObject([{ attempts: 0 }]);
      expect((await gateway.api(`/api/agents/${id}/session`)).slices.cart).toEqual({ version: 1, state: ['chair'] });
      // Once: it is not retried.
      expect((await gateway.api(`/api/runs?agentId=${id}&status=failed`)).items).toHaveLength(1);
    }
    {
      const migrated = { ...newer, migrate: (items: unknown) => ({ items: items as readonly string[] }) };
      const model = scriptedModel([[{ toolName: 'count', input: {} }], 'Counted.']);
      const definition = defineAgent({ tools: { count: count(migrated) }, slices: [migrated] });
      await using gateway = await startTestGateway({ home, model, definitions: { clerk: definition }, agents });
      const [{ id }] = (await gateway.api('/api/agents')).items;
      await expect.poll(() => inbox(gateway, id, 'done')).toHaveLength(2);
      expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain('chair');
    }
  });

  it('[A6] a stored slice that no code knows is kept unchanged', async () => {
    const home = await scratchFolder('session');
    let context_id = '';
    {
      const model = scriptedModel([adding('chair'), 'Added.']);
      await using gateway = await startTestGateway({ home, model, definitions: { clerk: clerk() }, agents });
      ({ context_id } = await gateway.api('/api/chat', ask('A chair.')));
    }
    {
      const definition = defineAgent({ instructions: 'Say hello.' });
      const model = withSummaries(scriptedModel([LONG, 'Hello.']));
      await using gateway = await startTestGateway({
        home,
        model,
        definitions: { clerk: definition },
        agents: [{ name: 'Clerk', definition: 'clerk', limits: { consciousnessTokens: 1_000 } }],
      });
      await gateway.api('/api/chat', ask('Hello.', { context_id }));
      await gateway.api('/api/chat', ask('Hello.', { context_id }));
      const [{ id }] = (await gateway.api('/api/agents')).items;
      const { slices } = await gateway.api(`/api/agents/${id}/session?contextId=${context_id}`);
      expect(slices.cart).toEqual({ version: 1, state: ['chair'] });
    }
  });
});
