import { createHash } from 'node:crypto';
import type { McpCredentialKind } from '../../ports/store/schema/tables.ts';
import type { Store } from '../../ports/store/store.ts';
import type { Seal } from '../keys/seal.ts';

/** How long an authorization that was requested can be completed. */
const AUTHORIZATION_MS = 600_000;

/** Credentials that authorization servers issued to the gateways on one store, encrypted. */
export class McpCredentials {
  readonly #store: Store;
  readonly #seal: Seal;

  constructor(store: Store, seal: Seal) {
    this.#store = store;
    this.#seal = seal;
  }

  /** Returns undefined if there is none, or none that this gateway can read. */
  async read<T>(serverKey: string, kind: McpCredentialKind): Promise<T | undefined> {
    const row = await this.#store.db
      .selectFrom('mcp_credentials')
      .select('sealed')
      .where('server_key', '=', serverKey)
      .where('kind', '=', kind)
      .executeTakeFirst();
    return row === undefined ? undefined : await this.#open<T>(row.sealed);
  }

  /** `state`: the value that the browser brings back with the authorization. */
  async write(
    serverKey: string,
    kind: McpCredentialKind,
    value: unknown,
    { state }: { state?: string } = {},
  ): Promise<void> {
    const sealed = await this.#seal.seal(JSON.stringify(value));
    const state_hash = state === undefined ? null : hashOf(state);
    await this.#store.transaction(async (tx) => {
      const changed = { sealed, state_hash, updated_at: tx.now() };
      await tx.db
        .insertInto('mcp_credentials')
        .values({ server_key: serverKey, kind, ...changed })
        .onConflict((conflict) => conflict.columns(['server_key', 'kind']).doUpdateSet(changed))
        .execute();
    });
  }

  async remove(serverKey: string, kind: McpCredentialKind): Promise<void> {
    await this.#store.transaction(async (tx) => {
      const rows = tx.db.deleteFrom('mcp_credentials').where('server_key', '=', serverKey);
      await rows.where('kind', '=', kind).execute();
    });
  }

  /** The authorization that a person was recently asked for. */
  async awaited<T>(serverKey: string): Promise<T | undefined> {
    const row = await this.#store.transaction((tx) =>
      tx.db
        .selectFrom('mcp_credentials')
        .select('sealed')
        .where('server_key', '=', serverKey)
        .where('kind', '=', 'authorization')
        .where('updated_at', '>', tx.now() - AUTHORIZATION_MS)
        .executeTakeFirst(),
    );
    return row === undefined ? undefined : await this.#open<T>(row.sealed);
  }

  /** Takes the authorization with this state. It can only be taken once. */
  async take<T>(state: string): Promise<{ readonly serverKey: string; readonly value: T } | undefined> {
    const row = await this.#store.transaction(async (tx) => {
      const taken = await tx.db
        .deleteFrom('mcp_credentials')
        .where('state_hash', '=', hashOf(state))
        .returningAll()
        .executeTakeFirst();
      return taken !== undefined && taken.updated_at > tx.now() - AUTHORIZATION_MS ? taken : undefined;
    });
    const value = row && (await this.#open<T>(row.sealed));
    return row === undefined || value === undefined ? undefined : { serverKey: row.server_key, value };
  }

  async #open<T>(sealed: string): Promise<T | undefined> {
    const text = await this.#seal.open(sealed);
    return text === undefined ? undefined : (JSON.parse(text) as T);
  }
}

function hashOf(state: string): string {
  return createHash('sha256').update(state).digest('hex');
}
