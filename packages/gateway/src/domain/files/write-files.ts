import { sql } from 'kysely';
import { toJson } from '../../ports/store/schema/json.ts';
import type { FileRow } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { FileChanger } from './stored-file.ts';

/** A file to write, or to delete if it has no text. */
interface FileChange {
  readonly path: string;
  readonly text: string | undefined;
}

export interface FileWrites {
  readonly threadId: string;
  readonly by: FileChanger;
  /** True if a rewind may undo them. Then the files are kept as they were before. */
  readonly canRewind: boolean;
  readonly files: readonly FileChange[];
}

/** Writes and deletes files, without waiting for the answers of the database. */
export function writeFiles(tx: Tx, { threadId, by, canRewind, files }: FileWrites): void {
  const [changedBy, now] = [toJson(by), tx.now()];
  for (const { path, text } of files) {
    const file = { threadId, path };
    if (canRewind) {
      tx.send(keepFile, file);
      tx.send(keepAbsence, file);
    }
    if (text === undefined) tx.send(deleteFile, file);
    else tx.send(upsertFile, { ...file, content: toJson(text), size: Buffer.byteLength(text), changedBy, now });
  }
}

/** The files are again as they were at the checkpoint, apart from those that people have changed since. */
export function undoFiles(tx: Tx, threadId: string): void {
  tx.send(deleteChanged, { threadId });
  tx.send(putBack, { threadId });
  forgetUndo(tx, threadId);
}

/** What was changed up to now is no longer undone by a rewind. */
export function forgetUndo(tx: Tx, threadId: string): void {
  tx.send(deleteUndo, { threadId });
}

/** A rewind leaves this file as it is from now on. */
export function forgetUndoOf(tx: Tx, threadId: string, path: string): void {
  tx.send(deleteUndoOf, { threadId, path });
}

interface FileKey {
  readonly threadId: string;
  readonly path: string;
}

interface FileValues extends FileKey {
  readonly content: string;
  readonly size: number;
  readonly changedBy: string;
  readonly now: number;
}

const upsertFile = statement((db, { threadId, path, content, size, changedBy, now }: Params<FileValues>) => {
  const told = { content, size, changed_by: changedBy, changed_at: now };
  return db
    .insertInto('files')
    .values({ thread_id: threadId, path, ...told })
    .onConflict((conflict) =>
      conflict.columns(['thread_id', 'path']).doUpdateSet((eb) => ({
        content: eb.ref('excluded.content'),
        size: eb.ref('excluded.size'),
        changed_by: eb.ref('excluded.changed_by'),
        changed_at: eb.ref('excluded.changed_at'),
      })),
    );
});

const deleteFile = statement((db, { threadId, path }: Params<FileKey>) =>
  db.deleteFrom('files').where('thread_id', '=', threadId).where('path', '=', path),
);

const COLUMNS = [
  'thread_id',
  'path',
  'content',
  'size',
  'changed_by',
  'changed_at',
] as const satisfies (keyof FileRow)[];

/** Only the first version since the checkpoint is kept. */
const keepFile = statement((db, { threadId, path }: Params<FileKey>) =>
  db
    .insertInto('file_undo')
    .columns([...COLUMNS])
    .expression((eb) =>
      eb
        .selectFrom('files')
        .select([...COLUMNS])
        .where('thread_id', '=', threadId)
        .where('path', '=', path),
    )
    .onConflict((conflict) => conflict.columns(['thread_id', 'path']).doNothing()),
);

/** Does nothing if the file was there: then `keepFile` has kept it. */
const keepAbsence = statement(
  (_db, { threadId, path }: Params<FileKey>) => sql`
    insert into file_undo (thread_id, path, content, size, changed_by, changed_at)
    values (${threadId}, ${path}, null, 0, '', 0) on conflict (thread_id, path) do nothing`,
);

const deleteChanged = statement((db, { threadId }: Params<{ threadId: string }>) =>
  db
    .deleteFrom('files')
    .where('thread_id', '=', threadId)
    .where('path', 'in', (eb) => eb.selectFrom('file_undo').select('path').where('file_undo.thread_id', '=', threadId)),
);

const putBack = statement((db, { threadId }: Params<{ threadId: string }>) =>
  db
    .insertInto('files')
    .columns([...COLUMNS])
    .expression((eb) =>
      eb
        .selectFrom('file_undo')
        .select([...COLUMNS])
        .where('thread_id', '=', threadId)
        .where('content', 'is not', null)
        .$narrowType<{ content: string }>(),
    ),
);

const deleteUndo = statement((db, { threadId }: Params<{ threadId: string }>) =>
  db.deleteFrom('file_undo').where('thread_id', '=', threadId),
);

const deleteUndoOf = statement((db, { threadId, path }: Params<FileKey>) =>
  db.deleteFrom('file_undo').where('thread_id', '=', threadId).where('path', '=', path),
);
