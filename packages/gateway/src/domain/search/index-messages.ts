import { sql } from 'kysely';
import type { MessageRow, SearchSpaceRow } from '../../ports/store/schema/tables.ts';
import type { IndexedText } from '../../ports/store/search/index-entry.ts';
import { addToIndex } from '../../ports/store/search/search-index.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { textOfMessage } from './entry-texts.ts';
import { kindLabel, labelOf } from './labels.ts';
import { wordsOf } from './words.ts';

/** Spaces that one transaction looks at. */
const MOST_SPACES = 50;

/**
 * Adds new messages, at most `most`. Messages of a space are numbered without gaps while the space is locked, so the number of the
 * next one says whether there are new ones.
 */
export async function indexNewMessages(tx: Tx, most: number): Promise<Indexed> {
  const spaces = await spacesWithNews(tx);
  const found: SearchedMessage[] = [];
  const places: SearchSpaceRow[] = [];
  for (const { id, seq, next_seq } of spaces) {
    const left = most - found.length;
    if (left <= 0) break;
    const rows = await messagesAfter(tx.db, { spaceId: id, seq, limit: left });
    found.push(...rows);
    const last = rows.at(-1)?.seq ?? 0;
    places.push({ space_id: id, seq: rows.length === left ? last : Math.max(last, next_seq - 1) });
  }
  // All spaces together: most have one new message, and statements cost more than rows.
  await addMessages(tx, found, new Map(spaces.map(({ id, project_id }) => [id, project_id])));
  if (places.length > 0) await writePlaces(tx, places);
  return { hasNews: spaces.length > 0, hasMore: found.length >= most || spaces.length === MOST_SPACES };
}

/** The newest message by its id. A gateway whose clock is behind may add one with an earlier id. */
export async function lastMessageId({ db }: Tx): Promise<string> {
  const { id } = await db
    .selectFrom('messages')
    .select((eb) => eb.fn.max('id').as('id'))
    .executeTakeFirstOrThrow();
  return id ?? '';
}

/** What one pass over a kind of source found. */
export interface Indexed {
  readonly hasNews: boolean;
  /** True if there may be more to add. */
  readonly hasMore: boolean;
}

interface SpaceWithNews {
  readonly id: string;
  readonly project_id: string;
  readonly next_seq: number;
  readonly seq: number;
}

async function spacesWithNews({ db }: Tx): Promise<readonly SpaceWithNews[]> {
  const { rows } = await sql<SpaceWithNews>`
    select s.id, s.project_id, s.next_seq, coalesce(p.seq, 0) as seq
    from spaces s left join search_spaces p on p.space_id = s.id
    where s.next_seq > coalesce(p.seq, 0) + 1 limit ${sql.lit(MOST_SPACES)}`.execute(db);
  return rows;
}

const messagesAfter = statement(
  (db, { spaceId, seq, limit }: Params<{ spaceId: string; seq: number; limit: number }>) =>
    db
      .selectFrom('messages')
      .select(['id', 'space_id', 'seq', 'kind', 'content', 'created_at'])
      .where('space_id', '=', spaceId)
      .where('seq', '>', seq)
      .orderBy('seq')
      .limit(limit),
);

async function writePlaces({ db }: Tx, places: readonly SearchSpaceRow[]): Promise<void> {
  await db
    .insertInto('search_spaces')
    .values(places)
    .onConflict((conflict) => conflict.column('space_id').doUpdateSet((eb) => ({ seq: eb.ref('excluded.seq') })))
    .execute();
}

type SearchedMessage = Pick<MessageRow, 'id' | 'space_id' | 'kind' | 'content' | 'created_at'>;

async function addMessages(
  tx: Tx,
  messages: readonly SearchedMessage[],
  projects: ReadonlyMap<string, string>,
): Promise<void> {
  const texts = messages.flatMap(({ id, space_id, kind, content, created_at }): readonly IndexedText[] => {
    const found = kind === 'text' ? textOfMessage(content, created_at) : undefined;
    if (found === undefined) return [];
    const labels = [labelOf('project', projects.get(space_id) ?? ''), kindLabel('message'), labelOf('space', space_id)];
    const words = wordsOf(found.text).map(({ word }) => word);
    return [{ kind: 'message', source_id: id, call_id: null, seq: null, at: found.at, words, labels }];
  });
  if (texts.length === 0) return;
  // A message that was changed before its space was reached has been added already.
  const ids = texts.map(({ source_id }) => source_id);
  await tx.db.deleteFrom('search_entries').where('source_id', 'in', ids).execute();
  await addToIndex(tx, texts);
}

/** Adds messages whose texts were changed. */
export async function indexMessagesAgain(tx: Tx, ids: readonly string[]): Promise<void> {
  const rows = await tx.db
    .selectFrom('messages')
    .innerJoin('spaces', 'spaces.id', 'messages.space_id')
    .select(['messages.id', 'space_id', 'kind', 'content', 'messages.created_at', 'project_id'])
    .where('messages.id', 'in', ids)
    .execute();
  await addMessages(tx, rows, new Map(rows.map(({ space_id, project_id }) => [space_id, project_id])));
}
