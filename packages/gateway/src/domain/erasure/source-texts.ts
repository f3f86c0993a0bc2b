import type { Kysely } from 'kysely';
import type { ErasureRow, MessageRow, Tables } from '../../ports/store/schema/tables.ts';

/** The messages of a space that are erased are read in steps of this many numbers. Hashing more at once would hold up others. */
const MESSAGES = 200;
/** Rows that one query without an index looks at. */
const RANGE = 1_000;

export type SourceMessage = Pick<
  MessageRow,
  'id' | 'space_id' | 'kind' | 'content' | 'metadata' | 'call' | 'attachments'
>;

/** A page of messages of one space, and the threads of the agents that were ever in the space. */
export interface SourcePage {
  readonly threadIds: readonly string[];
  readonly messages: readonly SourceMessage[];
}

/** The messages whose texts are erased: all of a space, or those that the person or the agent wrote in any space. */
export async function* sourceMessages(db: Kysely<Tables>, erasure: ErasureRow): AsyncGenerator<SourcePage> {
  const { kind, subject_id: subjectId } = erasure;
  if (kind === 'conversation') return;
  for (const { space_id: spaceId, next_seq } of await spacesOf(db, erasure)) {
    const threadIds = await threadsIn(db, spaceId);
    for (let after = 0; after < next_seq; after += MESSAGES) {
      let query = db
        .selectFrom('messages')
        .select(['id', 'space_id', 'kind', 'content', 'metadata', 'call', 'attachments'])
        .where('space_id', '=', spaceId)
        .where('seq', '>', after)
        .where('seq', '<=', after + MESSAGES);
      if (kind !== 'space') query = query.where('entity_id', '=', subjectId);
      const messages = await query.execute();
      if (messages.length > 0) yield { threadIds, messages };
    }
  }
}

async function spacesOf(
  db: Kysely<Tables>,
  { kind, subject_id }: ErasureRow,
): Promise<readonly { readonly space_id: string; readonly next_seq: number }[]> {
  const spaces = db.selectFrom('spaces').select(['spaces.id as space_id', 'spaces.next_seq']);
  if (kind === 'space') return await spaces.where('spaces.id', '=', subject_id).execute();
  return await spaces
    .innerJoin('memberships', 'memberships.space_id', 'spaces.id')
    .where('memberships.entity_id', '=', subject_id)
    .execute();
}

/** The messages of a space are events of the agents that are or were in it. */
async function threadsIn(db: Kysely<Tables>, spaceId: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('memberships')
    .innerJoin('agents', 'agents.entity_id', 'memberships.entity_id')
    .innerJoin('threads', 'threads.agent_id', 'agents.id')
    .select('threads.id')
    .where('memberships.space_id', '=', spaceId)
    .where('threads.kind', '=', 'agent')
    .execute();
  return rows.map(({ id }) => id);
}

/** The conversations that are erased as a whole. */
export async function wholeThreads(db: Kysely<Tables>, { kind, subject_id }: ErasureRow): Promise<readonly string[]> {
  if (kind === 'conversation') return [subject_id];
  if (kind === 'agent') {
    const threads = db.selectFrom('threads').select('id').where('agent_id', '=', subject_id).orderBy('id');
    return (await threads.execute()).map(({ id }) => id);
  }
  if (kind === 'space') return [];
  const owned: string[] = [];
  for await (const [after, upTo] of idRanges(db, 'contexts')) {
    const rows = await db
      .selectFrom('contexts')
      .select('id')
      .where('id', '>', after)
      .where('id', '<=', upTo)
      .where('owner_id', '=', subject_id)
      .execute();
    owned.push(...rows.map(({ id }) => id));
  }
  return owned;
}

/** Ranges of ids with a limited number of rows each, for columns without an index: no single query takes long. */
export async function* idRanges(
  db: Kysely<Tables>,
  table: 'contexts' | 'runs' | 'audit' | 'artifacts',
): AsyncGenerator<readonly [after: string, upTo: string]> {
  for (let after = ''; ; ) {
    const last = await db
      .selectFrom(table)
      .select('id')
      .where('id', '>', after)
      .orderBy('id')
      .limit(1)
      .offset(RANGE - 1)
      .executeTakeFirst();
    yield [after, last?.id ?? LAST_ID];
    if (last === undefined) return;
    after = last.id;
  }
}

/** Ids are printable. */
const LAST_ID = '\u{10ffff}';
