import { sql } from 'kysely';
import type { MessageRow } from '../../ports/store/schema/tables.ts';
import type { IndexedText } from '../../ports/store/search/index-entry.ts';
import { addToIndex } from '../../ports/store/search/search-index.ts';
import type { Tx } from '../../ports/store/store.ts';
import { textOfMessage } from './entry-texts.ts';
import { kindLabel, labelOf } from './labels.ts';
import { wordsOf } from './words.ts';

/** Spaces that one transaction looks at. */
const MOST_SPACES = 50;

/**
 * Adds new messages, at most about `most`. Messages of a space are numbered without gaps while the space is locked, so the number of the
 * next one says whether there are new ones.
 */
export async function indexNewMessages(tx: Tx, most: number): Promise<Indexed> {
  const spaces = await spacesWithNews(tx);
  let left = most;
  for (const space of spaces) {
    left -= await indexSpace(tx, space, left);
    if (left <= 0) return { hasNews: true, hasMore: true };
  }
  return { hasNews: spaces.length > 0, hasMore: spaces.length === MOST_SPACES };
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

async function indexSpace(tx: Tx, space: SpaceWithNews, most: number): Promise<number> {
  const rows = await tx.db
    .selectFrom('messages')
    .select(['id', 'space_id', 'seq', 'kind', 'content', 'created_at'])
    .where('space_id', '=', space.id)
    .where('seq', '>', space.seq)
    .orderBy('seq')
    .limit(most)
    .execute();
  await addMessages(tx, rows, new Map([[space.id, space.project_id]]));
  const last = rows.at(-1)?.seq ?? 0;
  const seq = rows.length === most ? last : Math.max(last, space.next_seq - 1);
  await tx.db
    .insertInto('search_spaces')
    .values({ space_id: space.id, seq })
    .onConflict((conflict) => conflict.column('space_id').doUpdateSet({ seq }))
    .execute();
  return rows.length;
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
