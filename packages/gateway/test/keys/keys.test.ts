import { describe, expect, test } from 'vitest';
import { createKey, findKey, listKeys, revokeKey } from '../../src/domain/keys/api-key.ts';
import { ensureFirstKey } from '../../src/domain/keys/first-key.ts';
import { hasScope, type Scope } from '../../src/domain/keys/scope.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { overlap } from '../spaces/overlap.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';

describe.each(databases)('secret keys on $kind', ({ kind, create }) => {
  const database = forAllTests(create);
  const store = forAllTests(() => database.open());

  const make = (scopes: readonly string[] = ['write'], name = 'app') =>
    store.transaction((tx) => createKey(tx, { name, scopes }));
  const revoke = (id: string) => store.transaction((tx) => revokeKey(tx, id));

  /** A database on which no gateway was ever started. */
  const onFreshDatabase = async (work: (stores: readonly [Store, Store]) => Promise<void>) => {
    const fresh = await create();
    const one = await fresh.open();
    const two = kind === 'postgres' ? await fresh.open() : one;
    try {
      await work([one, two]);
    } finally {
      for (const each of new Set([one, two])) await each.close();
      await fresh.remove();
    }
  };

  test('[G51] a key that is revoked twice at the same moment has the time of the first revocation', async () => {
    const { id } = await make();
    const first = (hold: () => Promise<void>) =>
      store.transaction(async (tx) => {
        await tx.db.updateTable('api_keys').set({ revoked_at: 1 }).where('id', '=', id).execute();
        await hold();
      });
    const [, second] = await overlap(store, first, () => revoke(id));
    expect(second).toMatchObject({ status: 'fulfilled', value: { id, revokedAt: 1 } });
    const { items } = await listKeys(store.db, { limit: 200 });
    expect(items.find((one) => one.id === id)).toMatchObject({ revokedAt: 1 });
  });

  test('[G51] a key cannot have the name of the one that the environment sets, because a start would revoke it', async () => {
    await expect(make(['read'], 'LASTCALL_SECRET_KEY')).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('Choose another.'),
    });
  });

  test('[G51] a key is found by its secret, with its scopes', async () => {
    const { id, key } = await make(['read', 'read']);
    expect(key).toMatch(/^lc_sk_[\w-]{43}$/);
    expect(await findKey(store.db, key)).toMatchObject({ id, name: 'app', scopes: ['read'], prefix: key.slice(0, 12) });
  });

  test.each([
    ['a shorter one', (key: string) => key.slice(0, -1)],
    ['a longer one', (key: string) => `${key}A`],
    ['one that differs in its end', (key: string) => `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`],
    ['its prefix', (key: string) => key.slice(0, 12)],
    ['nothing', () => ''],
    ['U+0000', () => 'a\u0000b'],
  ])('[G51] %s has no access', async (_name, spoil) => {
    const { key } = await make();
    expect(await findKey(store.db, spoil(key))).toBeUndefined();
  });

  test('[G51] only the hash of a key is stored', async () => {
    const { id, key } = await make();
    const row = await store.db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    expect(row.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(row)).not.toContain(key);
    expect(JSON.stringify(row)).not.toContain(key.slice(12));
    // The hash itself is not a key.
    expect(await findKey(store.db, row.hash)).toBeUndefined();
  });

  test('[G51] a revoked key has no access, and others still work', async () => {
    const [one, two] = [await make(), await make()];
    const revoked = await revoke(one.id);
    expect(revoked.revokedAt).toEqual(expect.any(Number));
    expect(await findKey(store.db, one.key)).toBeUndefined();
    expect(await findKey(store.db, two.key)).toMatchObject({ id: two.id });
    expect(await revoke(one.id)).toEqual(revoked);
    await expect(revoke('none')).rejects.toMatchObject({ code: 'not_found' });
    await expect(revoke('a\u0000b')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('[G51] scopes include one another downwards, and unknown ones are refused', async () => {
    const allowed = (scope: Scope) =>
      (['admin', 'write', 'read'] as const).filter((needed) => hasScope([scope], needed));
    expect(allowed('admin')).toEqual(['admin', 'write', 'read']);
    expect(allowed('write')).toEqual(['write', 'read']);
    expect(allowed('read')).toEqual(['read']);
    expect(hasScope([], 'read')).toBe(false);
    for (const scopes of [[], ['root'], ['admin', 'root']])
      await expect(make(scopes)).rejects.toMatchObject({ code: 'invalid_request', details: { path: 'scopes' } });
    await expect(make(['read'], ' ')).rejects.toMatchObject({ code: 'invalid_request', details: { path: 'name' } });
  });

  test('keys are listed in pages, and never with the key', async () => {
    const { key } = await make();
    const first = await listKeys(store.db, { limit: 1 });
    expect(first.items).toHaveLength(1);
    const all = [...first.items, ...(await listKeys(store.db, { cursor: first.next, limit: 200 })).items];
    expect(all).toHaveLength((await listKeys(store.db, { limit: 200 })).items.length);
    expect(JSON.stringify(all)).not.toContain(key.slice(12));
    expect(JSON.stringify(all)).not.toContain('hash');
  });

  test('[G51] the first start creates one key with all rights, also if several gateways start at the same moment', async () => {
    await onFreshDatabase(async ([one, two]) => {
      const given = await Promise.all([
        ensureFirstKey({ store: one }),
        ensureFirstKey({ store: two }),
        ensureFirstKey({ store: one }),
      ]);
      const [key, ...more] = given.filter((each) => each !== undefined);
      expect(more).toEqual([]);
      expect(await findKey(two.db, key ?? '')).toMatchObject({ scopes: ['admin'] });
      expect(await ensureFirstKey({ store: two })).toBeUndefined();
      expect((await listKeys(one.db)).items).toHaveLength(1);
    });
  });

  test('[G51] a configured key is used, and no key is shown', async () => {
    await onFreshDatabase(async ([one, two]) => {
      const secretKey = 'a-key-of-the-operator';
      expect(
        await Promise.all([
          ensureFirstKey({ store: one }, { secretKey }),
          ensureFirstKey({ store: two }, { secretKey }),
        ]),
      ).toEqual([undefined, undefined]);
      const found = await findKey(one.db, secretKey);
      expect(found).toMatchObject({ scopes: ['admin'] });
      // The first characters of a short key would be most of it.
      expect(found?.prefix).toBe('');
      expect(await ensureFirstKey({ store: one })).toBeUndefined();
      expect((await listKeys(one.db)).items).toHaveLength(1);
    });
  });

  test('[G51] configuring another key revokes only the previous configured one', async () => {
    await onFreshDatabase(async ([one, two]) => {
      const first = (await ensureFirstKey({ store: one })) ?? '';
      await ensureFirstKey({ store: one }, { secretKey: 'operator-key-one' });
      await Promise.all([one, two].map((each) => ensureFirstKey({ store: each }, { secretKey: 'operator-key-two' })));
      expect(await findKey(one.db, 'operator-key-one')).toBeUndefined();
      expect(await findKey(one.db, 'operator-key-two')).toBeDefined();
      expect(await findKey(one.db, first)).toBeDefined();
      await expect(ensureFirstKey({ store: one }, { secretKey: 'operator-key-one' })).rejects.toMatchObject({
        code: 'secret_key_revoked',
      });
    });
  });
});
