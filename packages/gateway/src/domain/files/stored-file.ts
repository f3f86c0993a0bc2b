import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { FileRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import { type Page, type PageOptions, pageLimit, textCursor, toPage } from '../entities/page.ts';

/** A file of an agent or of a conversation, without its text. */
export interface StoredFile {
  readonly path: string;
  /** In bytes of UTF-8. */
  readonly size: number;
  readonly changedAt: number;
  readonly changedBy: FileChanger;
}

/** Who wrote a file last: a call, a person or service, or the holder of a key. */
export type FileChanger =
  | { readonly callId: string; readonly runId: string }
  | { readonly entityId: string }
  | { readonly keyId: string }
  /** A browser that was signed in for no person. */
  | { readonly sessionId: string };

/** Lists the files of a thread by path. */
export async function listFiles(
  db: Kysely<Tables>,
  threadId: string,
  { limit: wanted, cursor }: PageOptions,
): Promise<Page<StoredFile>> {
  const limit = pageLimit(wanted);
  const after = textCursor(cursor);
  const all = db.selectFrom('files').select(SHOWN).where('thread_id', '=', threadId);
  const rows = await (after === undefined ? all : all.where('path', '>', after))
    .orderBy('path')
    .limit(limit + 1)
    .execute();
  return toPage(rows, { limit, cursorOf: ({ path }) => path, toItem: toStoredFile });
}

/** Undefined if there is no such file. `path` is one that `storedPath` returned. */
export async function findFile(
  db: Kysely<Tables>,
  threadId: string,
  path: string,
): Promise<(StoredFile & { readonly text: string }) | undefined> {
  const [row] = await find(db, { threadId, path });
  return row === undefined ? undefined : { ...toStoredFile(row), text: fromJson(row.content) };
}

/** The texts of those files that exist, by path. Undefined for a file of more than `maxBytes`. */
export async function findTexts(
  db: Kysely<Tables>,
  { threadId, paths, maxBytes }: { threadId: string; paths: readonly string[]; maxBytes: number },
): Promise<ReadonlyMap<string, string | undefined>> {
  if (paths.length === 0) return new Map();
  const rows = await db
    .selectFrom('files')
    .select((eb) => ['path', eb.case().when('size', '<=', maxBytes).then(eb.ref('content')).end().as('content')])
    .where('thread_id', '=', threadId)
    .where('path', 'in', paths)
    .execute();
  return new Map(rows.map(({ path, content }) => [path, content === null ? undefined : fromJson<string>(content)]));
}

/** All paths and sizes. The number of files is limited, so they fit in memory. */
export async function listPaths(
  db: Kysely<Tables>,
  threadId: string,
): Promise<readonly Pick<FileRow, 'path' | 'size' | 'changed_at'>[]> {
  return await paths(db, { threadId });
}

function toStoredFile(row: Pick<FileRow, (typeof SHOWN)[number]>): StoredFile {
  const { path, size, changed_at, changed_by } = row;
  return { path, size, changedAt: changed_at, changedBy: fromJson(changed_by) };
}

const SHOWN = ['path', 'size', 'changed_at', 'changed_by'] as const;

const find = statement((db, { threadId, path }: Params<{ threadId: string; path: string }>) =>
  db
    .selectFrom('files')
    .select([...SHOWN, 'content'])
    .where('thread_id', '=', threadId)
    .where('path', '=', path),
);

const paths = statement((db, { threadId }: Params<{ threadId: string }>) =>
  db.selectFrom('files').select(['path', 'size', 'changed_at']).where('thread_id', '=', threadId).orderBy('path'),
);
