import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { SessionRow } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { isId } from '../entities/column-text.ts';
import { invalid } from '../entities/invalid.ts';
import { inView, type View } from '../projects/view.ts';
import type { Scope } from './scope.ts';

/** What a signed-in browser may do: what the scopes allow, and what the person may do. At least one of the two is set. */
export interface Grant {
  readonly scopes: readonly Scope[];
  readonly entityId: string | undefined;
  /** The key whose revocation ends it. */
  readonly keyId: string | undefined;
  /** The session that created it and whose end also ends it. */
  readonly makerSessionId: string | undefined;
}

export type GrantRow = Pick<SessionRow, 'scopes' | 'entity_id' | 'key_id' | 'maker_session_id'>;

export function toGrantRow({ scopes, entityId, keyId, makerSessionId }: Grant): GrantRow {
  return {
    scopes: toJson(scopes),
    entity_id: entityId ?? null,
    key_id: keyId ?? null,
    maker_session_id: makerSessionId ?? null,
  };
}

export function fromGrantRow({ scopes, entity_id, key_id, maker_session_id }: GrantRow): Grant {
  return {
    scopes: fromJson<readonly Scope[]>(scopes),
    entityId: entity_id ?? undefined,
    keyId: key_id ?? undefined,
    makerSessionId: maker_session_id ?? undefined,
  };
}

/** Sessions are for people: agents act by their runs, and services have no browser. */
export async function assertPerson(tx: Tx, entityId: string, view: View): Promise<void> {
  const person = isId(entityId)
    ? await tx.db
        .selectFrom('entities')
        .select('id')
        .where('id', '=', entityId)
        .where('kind', '=', 'human')
        .where('deleted_at', 'is', null)
        .where(inView(view, 'entities'))
        .executeTakeFirst()
    : undefined;
  if (person === undefined) throw invalid('entityId', 'must be the id of a person (an entity of kind "human").');
}

/** Deletes entries that expired before `until`. Called whenever a new one is created, so that neither table grows. */
export async function deleteExpired(tx: Tx, table: 'sessions' | 'sign_in_links', until: number): Promise<void> {
  await tx.db.deleteFrom(table).where('expires_at', '<=', until).execute();
}
