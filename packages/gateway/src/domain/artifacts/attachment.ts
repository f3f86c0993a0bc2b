import type { LanguageModelV4FilePart } from '@ai-sdk/provider';
import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { isId } from '../entities/column-text.ts';
import { invalid } from '../entities/invalid.ts';

/** A file of a message, without its bytes. */
export interface Attachment {
  /** The id of its artifact. */
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
}

/** How many files a message can have. */
export const MOST_ATTACHMENTS = 10;

interface Attaching {
  readonly entityId: string;
  readonly attachments?: readonly string[] | undefined;
}

/**
 * Attaches uploads to a message of a space, whose members may read them from then on. Only those who uploaded a file can attach it, and to
 * one space only: it would be read by people who were not meant to see it.
 */
export async function attachToSpace(
  tx: Tx,
  { attachments, entityId, spaceId }: Attaching & { readonly spaceId: string },
): Promise<readonly Attachment[]> {
  return await attach(tx, { attachments, entityId }, { space_id: spaceId });
}

/** The same for a message of a conversation. */
export async function attachToConversation(
  tx: Tx,
  { attachments, entityId, contextId }: Attaching & { readonly contextId: string },
): Promise<readonly Attachment[]> {
  return await attach(tx, { attachments, entityId }, { thread_id: contextId });
}

type Place = { readonly space_id: string } | { readonly thread_id: string };

async function attach(
  tx: Tx,
  { attachments: ids = [], entityId }: Attaching,
  place: Place,
): Promise<readonly Attachment[]> {
  if (ids.length === 0) return [];
  if (new Set(ids).size < ids.length) throw invalid('attachments', 'must not name a file twice.');
  const [column, value] = Object.entries(place)[0] as ['space_id' | 'thread_id', string];
  const other = column === 'space_id' ? 'thread_id' : 'space_id';
  // In the order of their ids, so that two messages with the same files never wait for each other.
  for (const id of ids.toSorted()) {
    const { numUpdatedRows } = await tx.db
      .updateTable('artifacts')
      .set({ [column]: value })
      .where('id', '=', isId(id) ? id : '')
      .where('entity_id', '=', entityId)
      .where(other, 'is', null)
      .where((eb) => eb.or([eb(column, 'is', null), eb(column, '=', value)]))
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n)
      throw invalid(
        'attachments',
        `must be ids of files that the sender has uploaded with POST /api/artifacts less than a day ago, and not attached elsewhere. "${id.slice(0, 100)}" is none.`,
      );
  }
  const found = new Map((await read(tx.db, ids)).map((one) => [one.id, one]));
  return ids.flatMap((id) => found.get(id) ?? []);
}

async function read(db: Kysely<Tables>, ids: readonly string[]): Promise<readonly Attachment[]> {
  const rows = await db
    .selectFrom('artifacts')
    .select(['id', 'name', 'media_type', 'bytes'])
    .where('id', 'in', [...ids])
    .execute();
  return rows.map(({ id, name, media_type: mediaType, bytes }) => ({ id, name: name ?? id, mediaType, bytes }));
}

/** `740 bytes`, `12 kB`, `3.4 MB` */
export function sizeInWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/**
 * Attachments as parts of a message to a model. A transcript has no bytes: a part refers to the artifact, and models/with-files.ts reads it
 * when a request is sent.
 */
export function attachedParts(attachments: readonly Attachment[] = []): readonly LanguageModelV4FilePart[] {
  return attachments.map(({ id, name, mediaType, bytes }) => ({
    type: 'file',
    mediaType,
    filename: name,
    data: { type: 'reference', reference: { [OWNER]: id } },
    // So that a file that is too large need not be read to find that out.
    providerOptions: { [OWNER]: { bytes } },
  }));
}

/** The id of the artifact that a part of a message refers to. */
export function attachedId(part: { readonly type: string; readonly data?: unknown }): string | undefined {
  if (part.type !== 'file') return undefined;
  const { type, reference } = (part.data ?? {}) as { type?: unknown; reference?: Readonly<Record<string, unknown>> };
  const id = type === 'reference' ? reference?.[OWNER] : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** How many bytes the artifact of a part has, if the part says it. */
export function attachedBytes({ providerOptions }: Pick<LanguageModelV4FilePart, 'providerOptions'>): number {
  return Number(providerOptions?.[OWNER]?.bytes ?? 0);
}

/** References of this name are ours. No provider gets them. */
const OWNER = 'lastcall';
