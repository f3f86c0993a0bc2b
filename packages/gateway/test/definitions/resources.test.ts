import { resource, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/index.ts';
import { startTestGateway } from '../../src/testing/index.ts';

type Lifetime = 'call' | 'cycle' | 'gateway';

/** Resources that count what is open, of every lifetime. */
function counted() {
  const opened = { call: 0, cycle: 0, gateway: 0 };
  const open = { call: 0, cycle: 0, gateway: 0 };
  const one = (lifetime: Lifetime) =>
    resource(lifetime, {
      scope: lifetime,
      async create() {
        opened[lifetime]++;
        open[lifetime]++;
        return lifetime;
      },
      dispose() {
        open[lifetime]--;
      },
    });
  const all = { call: one('call'), cycle: one('cycle'), gateway: one('gateway') };
  const use = tool({
    description: 'Uses them.',
    inputSchema: z.object({ fail: z.boolean().default(false) }),
    effects: 'session',
    async execute({ fail }, { resources }) {
      const got = await Promise.all([resources.get(all.call), resources.get(all.cycle), resources.get(all.gateway)]);
      if (fail) throw new Error('failed');
      return got.join(' ');
    },
  });
  return { opened, open, definition: defineAgent({ resources: Object.values(all), tools: { use } }) };
}

const using = (fail = false) => [{ toolName: 'use', input: { fail } }];
const agents = [{ name: 'User', definition: 'user' }];
const ask = { agent: 'User', message: 'Go.' };

describe('resources of a definition', () => {
  test('[A10] each opens for the first call that needs it and closes when its lifetime ends, also after a failure', async () => {
    const { opened, open, definition } = counted();
    const model = scriptedModel(['Nothing to do.', using(), using(true), using(), 'Done.', using(), 'Done.']);
    const gateway = await startTestGateway({ model, definitions: { user: definition }, agents });
    await gateway.api('/api/chat', ask);
    expect(opened).toEqual({ call: 0, cycle: 0, gateway: 0 });
    await gateway.api('/api/chat', ask);
    expect(opened).toEqual({ call: 3, cycle: 1, gateway: 1 });
    await expect.poll(() => open).toEqual({ call: 0, cycle: 0, gateway: 1 });
    await gateway.api('/api/chat', ask);
    expect(opened).toEqual({ call: 4, cycle: 2, gateway: 1 });
    await gateway.stop();
    expect(open).toEqual({ call: 0, cycle: 0, gateway: 0 });
  });

  test('[A10] two runs that need one at the same moment share it, and one that could not be opened is tried again', async () => {
    let [tries, requests] = [0, 0];
    let allAsked = Promise.withResolvers<void>();
    const pool = resource('pool', {
      scope: 'gateway',
      async create() {
        tries++;
        await allAsked.promise;
        if (tries === 1) throw new Error('not yet');
        return 'ready';
      },
    });
    const use = tool({
      description: 'Uses it.',
      inputSchema: z.object({}),
      effects: 'session',
      async execute(_input, { resources }) {
        const opening = resources.get(pool);
        if (++requests % 5 === 0) allAsked.resolve();
        return await opening;
      },
    });
    const model = scriptedModel(({ prompt }) =>
      prompt.some(({ role }) => role === 'tool') ? 'Done.' : [{ toolName: 'use', input: {} }],
    );
    await using gateway = await startTestGateway({
      model,
      definitions: { user: defineAgent({ resources: [pool], tools: { use } }) },
      agents,
    });
    await Promise.all(Array.from({ length: 5 }, () => gateway.api('/api/chat', ask)));
    expect(tries).toBe(1);
    allAsked = Promise.withResolvers();
    await Promise.all(Array.from({ length: 5 }, () => gateway.api('/api/chat', ask)));
    expect(tries).toBe(2);
    await gateway.api('/api/chat', ask);
    expect(tries).toBe(2);
  });

  test('[A10] 200 runs leave no resource open', async () => {
    const { opened, open, definition } = counted();
    let calls = 0;
    const model = scriptedModel(({ prompt }) =>
      prompt.some(({ role }) => role === 'tool') ? 'Done.' : using(calls++ % 3 === 0),
    );
    const gateway = await startTestGateway({ model, definitions: { user: definition }, agents });
    for (let batch = 0; batch < 10; batch++)
      await Promise.all(Array.from({ length: 20 }, () => gateway.api('/api/chat', ask)));
    expect(opened).toEqual({ call: 200, cycle: 200, gateway: 1 });
    await expect.poll(() => open).toEqual({ call: 0, cycle: 0, gateway: 1 });
    await gateway.stop();
    expect(open.gateway).toBe(0);
  });

  test('[A10] a gateway that stops closes the open resources of a run', async () => {
    const { open, definition } = counted();
    const entered = Promise.withResolvers<void>();
    const hang = tool({
      description: 'Waits for the stop.',
      inputSchema: z.object({}),
      effects: 'session',
      execute: async (_input, { abortSignal }) => {
        entered.resolve();
        await new Promise((done) => abortSignal.addEventListener('abort', done));
      },
    });
    const model = scriptedModel([using(), [{ toolName: 'hang', input: {} }], 'Done.']);
    const gateway = await startTestGateway({
      model,
      definitions: { user: { ...definition, tools: { ...definition.tools, hang } } },
      agents,
      tuning: { graceMs: 100 },
    });
    const asking = gateway.api('/api/chat', ask).catch(() => {});
    await entered.promise;
    expect(open).toEqual({ call: 0, cycle: 1, gateway: 1 });
    await gateway.stop();
    await asking;
    expect(open).toEqual({ call: 0, cycle: 0, gateway: 0 });
  });

  test('[A1] files and a resource with the key "filesystem" are refused together', async () => {
    const own = resource('filesystem', { create: () => ({}) });
    const definitions = { user: { files: true, resources: [own] } };
    await expect(startTestGateway({ definitions })).rejects.toThrow(
      'definitions.user.resources[0] has the key "filesystem", and the definition has files: true. Remove one.',
    );
  });
});
