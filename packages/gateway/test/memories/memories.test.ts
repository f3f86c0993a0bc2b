import { dispatchCall } from '@lastcall/core';
import { expect, test } from 'vitest';
import { deleteMemories, listMemories, setMemories } from '../../src/domain/memory/memories.ts';
import type { MemoryInput } from '../../src/domain/memory/memory.ts';
import { memoryTools } from '../../src/runtime/tools/memory-tools.ts';
import { activeRunOf } from '../support/active-run-of.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';

describeIdleWorld('memories', ({ world }) => {
  const set = (agentId: string, memories: readonly MemoryInput[]) =>
    world.in((tx) => setMemories(tx, agentId, memories));
  const remove = (agentId: string, keys: readonly string[]) => world.in((tx) => deleteMemories(tx, agentId, keys));
  const values = async (agentId: string) =>
    Object.fromEntries((await listMemories(world.store.db, agentId)).map(({ key, value }) => [key, value]));

  test('[G22] a memory is any JSON, stored under its key, and overwritten by the same key', async () => {
    const agent = await world.agent();
    const kept = { text: 'a\0\ud800', number: 0, none: null, list: [1, { a: true }], no: false };
    expect(
      await set(
        agent,
        Object.entries(kept).map(([key, value]) => ({ key, value })),
      ),
    ).toEqual(Object.keys(kept));
    expect(await values(agent)).toEqual(kept);
    await set(agent, [{ key: 'text', value: 'b' }]);
    expect(await values(agent)).toEqual({ ...kept, text: 'b' });
  });

  test("[G22] another agent's memory is not found, and nothing of the batch is deleted", async () => {
    const [agent, other] = [await world.agent(), await world.agent()];
    await set(agent, [{ key: 'a', value: 1 }]);
    await set(other, [{ key: 'theirs', value: 2 }]);
    await expect(remove(agent, ['a', 'theirs'])).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('There is no memory "theirs"'),
    });
    expect(await values(agent)).toEqual({ a: 1 });
    await remove(agent, ['a']);
    expect(await values(agent)).toEqual({});
    expect(await values(other)).toEqual({ theirs: 2 });
  });

  test('[G22] counts and sizes have limits, and nothing is cut', async () => {
    const agent = await world.agent('Ada', { limits: { maxMemories: 1, noteLength: 10 } });
    await set(agent, [{ key: 'a', value: 'x'.repeat(10) }]);
    await expect(set(agent, [{ key: 'b', value: 1 }])).rejects.toMatchObject({ code: 'too_many' });
    await expect(set(agent, [{ key: 'a', value: 'x'.repeat(11) }])).rejects.toMatchObject({ code: 'too_large' });
    await expect(set(agent, [{ key: 'a', value: ['1234567'] }])).rejects.toMatchObject({ code: 'too_large' });
    expect(await values(agent)).toEqual({ a: 'x'.repeat(10) });
  });

  test('a memory without a key or a value is refused with its path', async () => {
    const agent = await world.agent();
    const wrong = [{ value: 1 }, { key: 'k' }] as unknown as MemoryInput[];
    await expect(set(agent, wrong)).rejects.toMatchObject({
      code: 'invalid_request',
      details: { problems: [{ path: 'memories[0].key' }, { path: 'memories[1].value' }] },
    });
  });

  test('[G22] set_memories and delete_memories return keys, and write when the call is settled', async () => {
    const agentId = await world.agent();
    const { run, staged, settle } = activeRunOf(world.services, agentId);
    const tools = memoryTools(() => run);
    const call = async (toolName: string, input: object) =>
      (await dispatchCall({ tools, call: { toolName, input } })).outcome;
    const memories = [{ key: 'likes', value: 'tea' }];
    expect(await call('set_memories', { memories })).toMatchObject({ status: 'ok', value: { keys: ['likes'] } });
    expect(await values(agentId)).toEqual({});
    await settle();
    expect(await values(agentId)).toEqual({ likes: 'tea' });
    expect(await call('delete_memories', { keys: ['hates'] })).toMatchObject({
      status: 'error',
      text: expect.stringContaining('"hates"'),
    });
    expect(staged).toEqual([]);
    expect(await call('delete_memories', { keys: ['likes'] })).toMatchObject({ value: { deleted: ['likes'] } });
    await settle();
    expect(await values(agentId)).toEqual({});
    expect(await call('set_memories', { memories: [{ value: 1 }] })).toMatchObject({ code: 'invalid_input' });
  });
});
