import type { ArtifactFiles } from '../../ports/artifacts/artifact-files.ts';
import type { Services } from '../../ports/services.ts';
import type { Tx } from '../../ports/store/store.ts';
import { ApiError, notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';
import type { Attachment } from './attachment.ts';
import type { ArtifactType } from './media-type.ts';

/** A file whose bytes are stored, and which has no row yet. */
export interface Upload {
  readonly id: string;
  readonly mediaType: ArtifactType;
  readonly bytes: number;
}

/** Files of one person that are in no message. */
const MOST_UNUSED = 50;

/** Stores the row of a file that a person uploaded. Until it is attached to a message, only they can read it. */
export async function insertUpload(
  tx: Tx,
  { upload, entityId, name }: { readonly upload: Upload; readonly entityId: string; readonly name: string },
): Promise<Attachment> {
  const { id, mediaType, bytes } = upload;
  // Locked: the deletion of a person waits for it, and two uploads do not both find the last place.
  const uploader = isId(entityId)
    ? await tx.db
        .selectFrom('entities')
        .select('project_id')
        .where('id', '=', entityId)
        .where('deleted_at', 'is', null)
        .forNoKeyUpdate()
        .executeTakeFirst()
    : undefined;
  if (uploader === undefined) throw notFound('entity', entityId);
  const { unused } = await tx.db
    .selectFrom('artifacts')
    .select((eb) => eb.fn.countAll<number>().as('unused'))
    .where('entity_id', '=', entityId)
    .where('space_id', 'is', null)
    .where('thread_id', 'is', null)
    .executeTakeFirstOrThrow();
  if (Number(unused) >= MOST_UNUSED)
    throw new ApiError(
      'too_many',
      `A person can have ${MOST_UNUSED} files that are in no message. Attach them to messages, or wait until they are deleted, a day after they were uploaded.`,
      { details: { limit: MOST_UNUSED } },
    );
  const shown = shownName(name, id);
  await tx.db
    .insertInto('artifacts')
    .values({
      id,
      agent_id: null,
      run_id: null,
      space_id: null,
      thread_id: null,
      entity_id: entityId,
      project_id: uploader.project_id,
      name: shown,
      media_type: mediaType,
      bytes,
      created_at: tx.now(),
    })
    .execute();
  return { id, name: shown, mediaType, bytes };
}

/** A name in one line, without folders and control characters, in at most 200 characters. */
function shownName(name: string, id: string): string {
  const [last = ''] = name.toWellFormed().split(/[/\\]/).slice(-1);
  const plain = last
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .trim()
    .slice(0, 200)
    .toWellFormed();
  return plain === '' ? id : plain;
}

const DAY_MS = 86_400_000;
const PIECE = 100;

/** From now on these files have no uploader, so that none of them can be attached. The next sweep deletes them. */
const GIVEN_UP = { entity_id: null, name: null } as const;

/** The files of a conversation that is deleted. */
export async function giveUpUploads(tx: Tx, contextId: string): Promise<void> {
  const uploads = tx.db.updateTable('artifacts').set({ ...GIVEN_UP, thread_id: null, created_at: 0 });
  await uploads.where('thread_id', '=', contextId).execute();
}

/**
 * Deletes uploads that are in no message after a day. First nobody can attach them any more, then their bytes go, and then their rows: a
 * row without bytes is found again, bytes without a row never.
 */
export async function sweepUploads(
  { store }: Pick<Services, 'store'>,
  files: ArtifactFiles,
  { now }: { now?: number } = {},
): Promise<number> {
  const ids = await store.transaction(async (tx) => {
    const due = await tx.db
      .selectFrom('artifacts')
      .select('id')
      .where('agent_id', 'is', null)
      .where('space_id', 'is', null)
      .where('thread_id', 'is', null)
      .where('created_at', '<', (now ?? tx.now()) - DAY_MS)
      .orderBy('created_at')
      .limit(PIECE)
      .execute();
    const found = due.map(({ id }) => id);
    if (found.length === 0) return [];
    const unused = await tx.db
      .updateTable('artifacts')
      .set(GIVEN_UP)
      .where('id', 'in', found)
      .where('space_id', 'is', null)
      .where('thread_id', 'is', null)
      .returning('id')
      .execute();
    return unused.map(({ id }) => id);
  });
  for (const id of ids) {
    await files.remove(id);
    await store.transaction((tx) => tx.db.deleteFrom('artifacts').where('id', '=', id).execute());
  }
  return ids.length;
}
