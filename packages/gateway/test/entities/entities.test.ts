import { expect, test } from 'vitest';
import { createEntity, getEntity, listEntities, type NewEntity } from '../../src/domain/entities/entity.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';

describeIdleWorld('entities', ({ world }) => {
  const enter = (given: NewEntity) => world.in((tx) => createEntity(tx, given));

  test('an entity is read back as it was created', async () => {
    const metadata = { mail: 'ann@example.com', odd: 'nul \u0000, half \ud800' };
    const made = await enter({ kind: 'human', externalId: 'u-1', displayName: 'Ann 🙂', metadata });
    expect(await getEntity(world.store.db, made.id)).toEqual(made);
    expect(made).toMatchObject({ kind: 'human', externalId: 'u-1', displayName: 'Ann 🙂', metadata });
  });

  test('the same external id again is the same entity, also at the same moment', async () => {
    const ann: NewEntity = { kind: 'human', externalId: 'u-2', displayName: 'Ann' };
    const made = await Promise.all(Array.from({ length: 10 }, () => enter(ann)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(await enter({ ...ann, displayName: 'Ann the second' })).toEqual(made[0]);
  });

  test('an external id of another kind is refused', async () => {
    await enter({ kind: 'human', externalId: 'u-3', displayName: 'Ann' });
    await expect(enter({ kind: 'service', externalId: 'u-3', displayName: 'Shop' })).rejects.toMatchObject({
      code: 'external_id_taken',
    });
  });

  test('without an external id every entity is a new one', async () => {
    const ann: NewEntity = { kind: 'human', displayName: 'Ann' };
    expect((await enter(ann)).id).not.toBe((await enter(ann)).id);
  });

  test.each([
    ['kind', { kind: 'agent', displayName: 'Bot' }],
    ['displayName', { kind: 'human', displayName: ' ' }],
    ['displayName', { kind: 'human', displayName: 'a\u0000b' }],
    ['displayName', { kind: 'human', displayName: 'half \ud83d' }],
    ['externalId', { kind: 'human', displayName: 'Ann', externalId: '' }],
    ['externalId', { kind: 'human', displayName: 'Ann', externalId: 'a\u0000b' }],
  ] as const)('[G54] a wrong %s is refused with its path', async (path, given) => {
    await expect(enter(given)).rejects.toMatchObject({ code: 'invalid_request', details: { path } });
  });

  test('[G53] a value that is too long is refused with the limit, and not cut', async () => {
    await expect(enter({ kind: 'human', displayName: 'a'.repeat(201) })).rejects.toMatchObject({
      code: 'too_large',
      details: { path: 'displayName', limit: 200 },
    });
    await expect(
      enter({ kind: 'human', displayName: 'Ann', metadata: { much: 'a'.repeat(16_000) } }),
    ).rejects.toMatchObject({ code: 'too_large', details: { path: 'metadata' } });
  });

  test.each(['nobody', '', 'a\u0000b', 'half \ud800', 'a'.repeat(10_000)])('there is no entity %j', async (id) => {
    await expect(getEntity(world.store.db, id)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('[G53] pages hold each entity once, and none is larger than 200', async () => {
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.push((await enter({ kind: 'service', displayName: `s${i}` })).id);
    const seen: string[] = [];
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const page = await listEntities(world.store.db, { kind: 'service', cursor, limit: 2 });
      expect(page.items.length).toBeLessThanOrEqual(2);
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.next;
    }
    expect(seen.toSorted()).toEqual(made.toSorted());
    for (const limit of [0, 201, 1.5, Number.NaN, -1, 1e300])
      await expect(listEntities(world.store.db, { limit })).rejects.toMatchObject({
        code: 'invalid_request',
        details: { path: 'limit' },
      });
    await expect(listEntities(world.store.db, { cursor: 'a\u0000b' })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  test('entities are found by their external id', async () => {
    const made = await enter({ kind: 'human', externalId: 'u-4', displayName: 'Ann' });
    expect((await listEntities(world.store.db, { externalId: 'u-4' })).items).toEqual([made]);
    expect((await listEntities(world.store.db, { externalId: 'u-none' })).items).toEqual([]);
  });
});
