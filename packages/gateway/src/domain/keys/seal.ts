import { createHash, randomBytes } from 'node:crypto';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { Store } from '../../ports/store/store.ts';

/** Encrypts secrets that the gateway must store: OAuth tokens, and the state of calls that ask. */
export interface Seal {
  seal(text: string): Promise<string>;
  /** Returns undefined if it was sealed with another key, or changed. */
  open(sealed: string): Promise<string | undefined>;
}

/** All gateways on one store have the same seal: from `encryptionKey`, or else from a key in the store. */
export async function createSeal(store: Store, encryptionKey: string | undefined): Promise<Seal> {
  const key = createHash('sha256')
    .update(encryptionKey ?? (await storedKey(store)))
    .digest();
  return {
    // Loaded when there is something to seal: see tokens.ts.
    async seal(text) {
      const { CompactEncrypt } = await import('jose');
      const encrypt = new CompactEncrypt(new TextEncoder().encode(text));
      return await encrypt.setProtectedHeader({ alg: 'dir', enc: 'A256GCM' }).encrypt(key);
    },
    async open(sealed) {
      const { compactDecrypt } = await import('jose');
      try {
        return new TextDecoder().decode((await compactDecrypt(sealed, key)).plaintext);
      } catch {
        return undefined;
      }
    },
  };
}

async function storedKey(store: Store): Promise<string> {
  return await store.transaction(async (tx) => {
    await tx.db
      .insertInto('settings')
      .values({ key: 'seal_key', value: toJson(randomBytes(32).toString('base64url')) })
      .onConflict((conflict) => conflict.column('key').doNothing())
      .execute();
    const stored = await tx.db
      .selectFrom('settings')
      .select('value')
      .where('key', '=', 'seal_key')
      .executeTakeFirstOrThrow();
    return fromJson<string>(stored.value);
  });
}
