import { LastcallError } from '@lastcall/core';
import type { Services } from '../../ports/services.ts';
import type { Tx } from '../../ports/store/store.ts';
import { announceRevocation } from '../streams/revocations.ts';
import { CONFIGURED, createKey, hashKey, insertKey } from './api-key.ts';

/**
 * Makes sure that there is a key. Returns the one that the very first start creates, to be shown once. Returns
 * undefined on later starts, and if LASTCALL_SECRET_KEY is set.
 */
export async function ensureFirstKey(
  { store }: Pick<Services, 'store'>,
  { secretKey }: { readonly secretKey?: string | undefined } = {},
): Promise<string | undefined> {
  return await store.transaction(async (tx) => {
    if (secretKey !== undefined) return await configure(tx, secretKey);
    if (!(await isFirstStart(tx))) return undefined;
    return (await createKey(tx, { name: 'first key', scopes: ['admin'] })).key;
  });
}

/** Setting another LASTCALL_SECRET_KEY revokes the previous one. */
async function configure(tx: Tx, secretKey: string): Promise<undefined> {
  await isFirstStart(tx);
  // Other gateways that start at the same moment wait here.
  await tx.db.updateTable('settings').set({ value: 'true' }).where('key', '=', 'first_key').execute();
  const hash = hashKey(secretKey);
  const known = await tx.db.selectFrom('api_keys').select('revoked_at').where('hash', '=', hash).executeTakeFirst();
  if (known !== undefined && known.revoked_at !== null)
    throw new LastcallError('secret_key_revoked', `${CONFIGURED} is a key that was revoked. Set another one.`);
  const ended = await tx.db
    .updateTable('api_keys')
    .set({ revoked_at: tx.now() })
    .where('name', '=', CONFIGURED)
    .where('hash', '!=', hash)
    .where('revoked_at', 'is', null)
    .returning('id')
    .execute();
  for (const { id } of ended) announceRevocation(tx, id);
  if (known === undefined) await insertKey(tx, { name: CONFIGURED, scopes: ['admin'] }, secretKey);
}

/** True only once: a second gateway that starts at the same moment waits here for the first one's commit. */
async function isFirstStart(tx: Tx): Promise<boolean> {
  const first = await tx.db
    .insertInto('settings')
    .values({ key: 'first_key', value: 'true' })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .returning('key')
    .executeTakeFirst();
  return first !== undefined;
}
