import type { Changes } from '@lastcall/core';
import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/json.ts';
import type { Tables, TranscriptEntryRow } from '../../ports/store/tables.ts';
import { toReadable } from '../consciousness/readable-frames.ts';
import { numberCursor, type Page, type PageOptions, pageLimit, toPage } from '../entities/page.ts';
import { getRun } from './run.ts';

/** One stored entry, with its frames converted for people. */
export interface RunEntry {
  /** The number within the thread, across its runs. */
  readonly seq: number;
  readonly kind: string;
  readonly at: number;
  /** The entry, or the summary if it is a compaction. */
  readonly entry: unknown;
  /** What a call changed, with its end. Missing if it changed nothing. */
  readonly changes?: Changes;
}

export async function runTranscript(
  db: Kysely<Tables>,
  runId: string,
  page: PageOptions = {},
): Promise<Page<RunEntry>> {
  const limit = pageLimit(page.limit);
  const after = numberCursor(page.cursor);
  const tag = await tagOf(db, (await getRun(db, runId)).agentId);
  let query = db.selectFrom('transcript_entries').selectAll().where('run_id', '=', runId);
  if (after !== undefined) query = query.where('seq', '>', after);
  const rows = await query
    .orderBy('seq')
    .limit(limit + 1)
    .execute();
  return toPage(rows, { limit, cursorOf: ({ seq }) => String(seq), toItem: (row) => toRunEntry(row, tag) });
}

/** Finds deleted agents too: their rows stay. */
async function tagOf(db: Kysely<Tables>, agentId: string): Promise<string> {
  const { tag } = await db.selectFrom('agents').select('tag').where('id', '=', agentId).executeTakeFirstOrThrow();
  return tag;
}

function toRunEntry({ seq, kind, created_at, payload }: TranscriptEntryRow, tag: string): RunEntry {
  const { entry, summary, changes } = fromJson<StoredEntry>(payload);
  const readable = { seq, kind, at: created_at, entry: toReadable(entry ?? { kind, summary }, tag) };
  return changes === undefined ? readable : { ...readable, changes: toReadable(changes, tag) };
}

interface StoredEntry {
  readonly entry?: unknown;
  /** Of a compaction. */
  readonly summary?: string;
  readonly changes?: Changes;
}
