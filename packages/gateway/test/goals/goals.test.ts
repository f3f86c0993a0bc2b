import { expect, test } from 'vitest';
import type { GoalInput } from '../../src/domain/memory/goal.ts';
import { deleteGoals, listGoals, setGoals } from '../../src/domain/memory/goals.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';

describeIdleWorld('goals', ({ world }) => {
  const set = (agentId: string, goals: readonly GoalInput[]) => world.in((tx) => setGoals(tx, agentId, goals));
  const remove = (agentId: string, keys: readonly string[]) => world.in((tx) => deleteGoals(tx, agentId, keys));
  const list = (agentId: string) => listGoals(world.store.db, agentId);
  const keys = async (agentId: string) => (await list(agentId)).map(({ key }) => key);

  test('[G22] a goal gets the given key, or a readable one that is free', async () => {
    const agent = await world.agent();
    expect(await set(agent, [{ key: 'mine', description: 'a' }, { description: 'Book the hotel in Tokyo!' }])).toEqual([
      'mine',
      'book-the-hotel-in-tokyo',
    ]);
    const again = [
      { description: 'Book the hotel in Tokyo?' },
      { key: 'book-the-hotel-in-tokyo-3', description: 'x' },
      { description: 'book the HOTEL in tokyo' },
    ];
    expect(await set(agent, again)).toEqual([
      'book-the-hotel-in-tokyo-2',
      'book-the-hotel-in-tokyo-3',
      'book-the-hotel-in-tokyo-4',
    ]);
    expect(await keys(agent)).toHaveLength(5);
  });

  test('[G22] a key can be made of any text', async () => {
    const agent = await world.agent();
    const texts = ['東京のホテルを予約する', '🎉🎉', 'a'.repeat(300), '\u0000 \ud800', 'احجز فندقا'];
    const made = await set(
      agent,
      texts.map((description) => ({ description })),
    );
    expect(made).toEqual(['東京のホテルを予約する', 'note', 'a'.repeat(16), 'note-2', 'احجز-فندقا']);
    expect((await list(agent)).map(({ description }) => description).sort()).toEqual([...texts].sort());
  });

  test('a goal with a known key is overwritten, and fields that are left out stay', async () => {
    const agent = await world.agent();
    await set(agent, [{ key: 'k', description: 'old' }]);
    expect(await list(agent)).toMatchObject([{ key: 'k', description: 'old', status: 'active', priority: 0 }]);
    await set(agent, [{ key: 'k', description: 'new', status: 'done', priority: 7 }]);
    await set(agent, [{ key: 'k', description: 'newest' }]);
    expect(await list(agent)).toMatchObject([{ key: 'k', description: 'newest', status: 'done', priority: 7 }]);
  });

  test('the most important goals come first', async () => {
    const agent = await world.agent();
    await set(agent, [
      { key: 'a', description: 'a', priority: -1 },
      { key: 'b', description: 'b' },
      { key: 'c', description: 'c', priority: 5 },
    ]);
    expect(await keys(agent)).toEqual(['c', 'b', 'a']);
  });

  test("[G22] another agent's goal is not found, and is not changed", async () => {
    const [agent, other] = [await world.agent(), await world.agent()];
    await set(agent, [{ key: 'shared', description: 'mine' }]);
    await set(other, [
      { key: 'shared', description: 'theirs' },
      { key: 'theirs', description: 'theirs' },
    ]);
    await expect(remove(agent, ['shared', 'theirs'])).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('"theirs"'),
      details: { keys: ['theirs'] },
    });
    expect(await keys(agent)).toEqual(['shared']);
    await remove(agent, ['shared', 'shared']);
    expect(await keys(agent)).toEqual([]);
    expect(await keys(other)).toEqual(['shared', 'theirs']);
  });

  test('[G22] goals beyond the limit are refused as a whole', async () => {
    const agent = await world.agent('Ada', { limits: { maxGoals: 2 } });
    await set(agent, [{ key: 'a', description: 'a' }]);
    const two = [{ description: 'b' }, { description: 'c' }];
    await expect(set(agent, two)).rejects.toMatchObject({
      code: 'too_many',
      details: { most: 2, kept: 1, added: 2 },
    });
    expect(await keys(agent)).toEqual(['a']);
    await set(agent, [{ key: 'b', description: 'b' }]);
    await set(agent, [{ key: 'b', description: 'still fits' }]);
    expect(await keys(agent)).toEqual(['a', 'b']);
  });

  test('[G22] with a limit that was lowered, goals can still be changed and deleted', async () => {
    const agent = await world.agent();
    await set(agent, [
      { key: 'a', description: 'a' },
      { key: 'b', description: 'b' },
    ]);
    const config = JSON.stringify({ name: 'Ada', instructions: '', limits: { maxGoals: 1 } });
    await world.in((tx) => tx.db.updateTable('agents').set({ config }).where('id', '=', agent).execute());
    await set(agent, [{ key: 'b', description: 'changed' }]);
    await expect(set(agent, [{ key: 'c', description: 'c' }])).rejects.toMatchObject({ code: 'too_many' });
    await remove(agent, ['a', 'b']);
    await set(agent, [{ key: 'c', description: 'c' }]);
  });

  test('[G22] a goal that is too long is refused, not cut', async () => {
    const agent = await world.agent('Ada', { limits: { noteLength: 10 } });
    await set(agent, [{ key: 'k', description: 'x'.repeat(10) }]);
    await expect(set(agent, [{ key: 'l', description: 'x'.repeat(11) }])).rejects.toMatchObject({
      code: 'too_large',
      details: { limit: 10 },
    });
    expect(await keys(agent)).toEqual(['k']);
  });

  test.each([
    ['an empty key', { key: '  ', description: 'x' }, 'goals[1].key'],
    ['a key with U+0000', { key: 'a\0', description: 'x' }, 'goals[1].key'],
    ['half a character', { key: 'a\ud800', description: 'x' }, 'goals[1].key'],
    ['a line break', { key: 'a\nb', description: 'x' }, 'goals[1].key'],
    ['a long key', { key: 'k'.repeat(101), description: 'x' }, 'goals[1].key'],
    ['a status with U+0000', { description: 'x', status: 'a\0' }, 'goals[1].status'],
    ['an empty description', { description: ' ' }, 'goals[1].description'],
    ['a broken priority', { description: 'x', priority: 0.5 }, 'goals[1].priority'],
    ['a huge priority', { description: 'x', priority: 1e12 }, 'goals[1].priority'],
    ['an unknown field', { description: 'x', spaceId: 's' } as GoalInput, 'goals[1].spaceId'],
  ])('[G22] %s is refused with its path, and nothing is set', async (_what, wrong, path) => {
    const agent = await world.agent();
    await expect(set(agent, [{ description: 'fine' }, wrong])).rejects.toMatchObject({
      code: 'invalid_request',
      details: { path },
    });
    expect(await keys(agent)).toEqual([]);
  });

  test('a repeated key in one call is refused, because it would be ambiguous', async () => {
    const agent = await world.agent();
    const twice = [
      { key: 'k', description: 'a' },
      { key: ' k ', description: 'b' },
    ];
    await expect(set(agent, twice)).rejects.toMatchObject({ code: 'repeated_key' });
  });

  test('keys named like inherited properties are ordinary keys', async () => {
    const agent = await world.agent();
    await set(agent, [{ key: '__proto__', description: 'a' }]);
    await expect(remove(agent, ['constructor'])).rejects.toMatchObject({ code: 'not_found' });
    await remove(agent, ['__proto__']);
    expect(await keys(agent)).toEqual([]);
  });

  test('an unknown key that no database could hold is not found either', async () => {
    const agent = await world.agent();
    await expect(remove(agent, ['a\0b'])).rejects.toMatchObject({ code: 'not_found' });
  });
});
