import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { spaceReference } from '../agents/situation-words.ts';
import { ApiError } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';

/** A space as its member knows it. */
export interface OwnSpace {
  readonly spaceId: string;
  readonly number: number | null;
  readonly name: string;
  readonly description: string;
  readonly archivedAt: number | null;
}

/**
 * Finds a space of an entity by what a model writes: the number that it was shown (`2`, `space 2`, `s2`), or the id. Throws an error that
 * lists the entity's spaces if it is none of them.
 */
export async function findOwnSpace(db: Kysely<Tables>, entityId: string, reference: string): Promise<OwnSpace> {
  const [, prefix, digits] = /^\s*(s|space)?\s*(\d{1,15})\s*$/i.exec(reference) ?? [];
  const found = async (column: 'memberships.number' | 'memberships.space_id', value: number | string) =>
    await ownSpaces(db, entityId).where(column, '=', value).executeTakeFirst();
  const byId = async () => (isId(reference) ? await found('memberships.space_id', reference) : undefined);
  // Callers may choose ids such as "s2". What a model is shown is the number alone.
  const isIdFirst = digits === undefined || prefix?.toLowerCase() === 's';
  const space =
    (isIdFirst ? await byId() : undefined) ??
    (digits === undefined ? undefined : await found('memberships.number', Number(digits))) ??
    (isIdFirst ? undefined : await byId());
  if (space !== undefined) return space;
  throw new ApiError('not_found', `There is no space "${reference}". ${await listOwnSpaces(db, entityId)}`);
}

/** A sentence that lists the spaces of an entity. */
export async function listOwnSpaces(db: Kysely<Tables>, entityId: string): Promise<string> {
  const spaces = await ownSpaces(db, entityId).where('spaces.archived_at', 'is', null).limit(51).execute();
  if (spaces.length === 0) return 'You are not a member of any space.';
  const more = spaces.length > 50 ? ', and more' : '';
  return `Your spaces: ${spaces
    .slice(0, 50)
    .map(({ spaceId, number, name }) => spaceReference({ spaceId, number, name }))
    .join(', ')}${more}.`;
}

function ownSpaces(db: Kysely<Tables>, entityId: string) {
  return db
    .selectFrom('memberships')
    .innerJoin('spaces', 'spaces.id', 'memberships.space_id')
    .select(['spaces.id as spaceId', 'memberships.number', 'spaces.name', 'spaces.description'])
    .select('spaces.archived_at as archivedAt')
    .where('memberships.entity_id', '=', entityId)
    .where('memberships.left_at', 'is', null)
    .orderBy('memberships.number');
}
