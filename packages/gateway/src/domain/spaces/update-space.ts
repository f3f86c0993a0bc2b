import type { SpaceRow } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { ApiError } from '../api-error.ts';
import { plainText } from '../entities/column-text.ts';
import { spaceStream } from '../streams/stream-names.ts';
import { lockSpace } from './lock-space.ts';
import { type Space, toSpace } from './space.ts';

export interface SpaceUpdate {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** True archives the space, false takes messages again. */
  readonly archived?: boolean | undefined;
}

/** Renames a space, or archives it. What is not named stays as it is. */
export async function updateSpace(tx: Tx, spaceId: string, update: SpaceUpdate): Promise<Space> {
  const before = await lockSpace(tx, spaceId);
  const changes = changesOf(before, update, tx.now());
  if (Object.keys(changes).length === 0) return toSpace(before);
  if (typeof changes.archived_at === 'number') await leaveActiveSpace(tx, spaceId);
  await tx.db.updateTable('spaces').set(changes).where('id', '=', spaceId).execute();
  const space = toSpace({ ...before, ...changes });
  tx.emit({ stream: spaceStream(spaceId), type: 'space.changed', payload: { space } });
  return space;
}

type Changes = Partial<Pick<SpaceRow, 'name' | 'description' | 'archived_at'>>;

function changesOf(before: SpaceRow, { name, description, archived }: SpaceUpdate, now: number): Changes {
  const wanted: Changes = {
    ...(name === undefined ? {} : { name: plainText(name, 'name', { min: 1, max: 200 }) }),
    ...(description === undefined ? {} : { description: plainText(description, 'description', { max: 2_000 }) }),
    // A second request does not change since when it is archived.
    ...(archived === undefined ? {} : { archived_at: archived ? (before.archived_at ?? now) : null }),
  };
  return Object.fromEntries(
    Object.entries(wanted).filter(([column, value]) => before[column as keyof Changes] !== value),
  );
}

/**
 * No agent keeps an archived space as its active one. The lock on the memberships makes a run that begins in the space wait, or
 * makes us wait for it: see `wakeIn`.
 */
async function leaveActiveSpace(tx: Tx, spaceId: string): Promise<void> {
  await tx.db
    .selectFrom('memberships')
    .select('entity_id')
    .where('space_id', '=', spaceId)
    .orderBy('entity_id')
    .forNoKeyUpdate()
    .execute();
  await tx.db
    .updateTable('agents')
    .set({ active_space_id: null })
    .where('active_space_id', '=', spaceId)
    .where('entity_id', 'in', (eb) => eb.selectFrom('memberships').select('entity_id').where('space_id', '=', spaceId))
    .execute();
}

/** Throws for a space that takes no messages, and says how to change that. */
export function assertNotArchived({ id, name, archived_at }: Pick<SpaceRow, 'id' | 'name' | 'archived_at'>): void {
  if (archived_at === null) return;
  throw new ApiError(
    'space_archived',
    `The space "${name}" is archived, so nothing can be posted in it. To use it again, a person or a key with the scope "write" unarchives it: PATCH /api/spaces/${id} with { "archived": false }, or "Unarchive" on its page in the studio.`,
  );
}

export function isArchived(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'space_archived';
}
