import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { conversationMessages } from '../conversations/conversation-messages.ts';
import { toMessage } from '../spaces/message.ts';
import { usageReport } from '../usage/usage-report.ts';
import { getEntity } from './entity.ts';

type Line = Readonly<Record<string, unknown>>;
type Pages = AsyncGenerator<readonly Line[]>;

/** The rows that are read at once. */
const PAGE = 200;

/** Everything that is stored about a person and by them, in pages. Each line says with `type` what it is. */
export async function* exportEntity(db: Kysely<Tables>, entityId: string, now: number): Pages {
  yield [{ type: 'entity', ...(await getEntity(db, entityId)) }];
  yield* spacesOf(db, entityId);
  yield* conversationsOf(db, entityId);
  yield* filesOf(db, entityId);
  yield* answersOf(db, entityId);
  yield* grantsOf(db, entityId);
  yield* casesOf(db, entityId);
  yield await accessOf(db, entityId);
  const by = ['day', 'agent', 'model', 'kind'] as const;
  const { items } = await usageReport(db, { by, entityId, from: '2000-01-01', now });
  yield items.map((item) => ({ type: 'usage', ...item }));
}

/** The spaces that they are or were in, each with their messages there. */
async function* spacesOf(db: Kysely<Tables>, entityId: string): Pages {
  const joined = db
    .selectFrom('memberships')
    .innerJoin('spaces', 'spaces.id', 'memberships.space_id')
    .select(['spaces.id', 'spaces.name', 'role', 'joined_at', 'left_at'])
    .where('memberships.entity_id', '=', entityId)
    .orderBy('spaces.id')
    .limit(PAGE);
  for await (const spaces of pagesBy((after) => joined.where('spaces.id', '>', after).execute()))
    for (const { id, name, role, joined_at, left_at } of spaces) {
      yield [{ type: 'space', id, name, role, joinedAt: joined_at, ...(left_at === null ? {} : { leftAt: left_at }) }];
      yield* messagesIn(db, id, entityId);
    }
}

async function* messagesIn(db: Kysely<Tables>, spaceId: string, entityId: string): Pages {
  for (let after = 0; ; ) {
    const rows = await db
      .selectFrom('messages')
      .selectAll()
      .where('space_id', '=', spaceId)
      .where('entity_id', '=', entityId)
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(PAGE)
      .execute();
    yield rows.map((row) => ({ type: 'message', ...toMessage(row) }));
    after = rows.at(-1)?.seq ?? after;
    if (rows.length < PAGE) return;
  }
}

async function* conversationsOf(db: Kysely<Tables>, entityId: string): Pages {
  const owned = db.selectFrom('contexts').selectAll().where('owner_id', '=', entityId).orderBy('id').limit(PAGE);
  for await (const conversations of pagesBy((after) => owned.where('id', '>', after).execute()))
    for (const { id, agent_id, metadata, created_at } of conversations) {
      yield [{ type: 'conversation', id, agentId: agent_id, metadata: fromJson(metadata), createdAt: created_at }];
      for (let cursor: string | undefined; ; ) {
        const { items, next } = await conversationMessages(db, id, { limit: PAGE, cursor });
        yield items.map((message) => ({ type: 'conversation_message', conversationId: id, message }));
        cursor = next;
        if (cursor === undefined) break;
      }
    }
}

/** What they uploaded. The bytes have their own address. */
async function* filesOf(db: Kysely<Tables>, entityId: string): Pages {
  const uploaded = db
    .selectFrom('artifacts')
    .select(['id', 'name', 'media_type', 'bytes', 'space_id', 'thread_id', 'created_at'])
    .where('entity_id', '=', entityId)
    .orderBy('id')
    .limit(PAGE);
  for await (const files of pagesBy((after) => uploaded.where('id', '>', after).execute()))
    yield files.map(({ id, name, media_type, bytes, space_id, thread_id, created_at }) => ({
      ...{ type: 'file', id, name, mediaType: media_type, bytes, createdAt: created_at },
      ...(space_id === null ? {} : { spaceId: space_id }),
      ...(thread_id === null ? {} : { conversationId: thread_id }),
    }));
}

async function* answersOf(db: Kysely<Tables>, entityId: string): Pages {
  const answered = db
    .selectFrom('calls')
    .select(['id', 'run_id', 'tool_name', 'answer', 'answered_at'])
    .where('answered_by', '=', entityId)
    .orderBy('id')
    .limit(PAGE);
  for await (const calls of pagesBy((after) => answered.where('id', '>', after).execute()))
    yield calls.map(({ id, run_id, tool_name, answer, answered_at }) => ({
      ...{ type: 'answer', callId: id, runId: run_id, toolName: tool_name, answeredAt: answered_at },
      ...(answer === null ? {} : { answer: fromJson(answer) }),
    }));
}

/** What they approved in advance. */
async function* grantsOf(db: Kysely<Tables>, entityId: string): Pages {
  const given = db
    .selectFrom('grants')
    .select(['id', 'agent_id', 'tool_name', 'lasts', 'conditions', 'call_id', 'created_at'])
    .where('granted_by', '=', entityId)
    .orderBy('id')
    .limit(PAGE);
  for await (const grants of pagesBy((after) => given.where('id', '>', after).execute()))
    yield grants.map(({ id, agent_id, tool_name, lasts, conditions, call_id, created_at }) => ({
      ...{ type: 'grant', id, agentId: agent_id, toolName: tool_name, for: lasts, callId: call_id },
      ...{ conditions: fromJson(conditions), createdAt: created_at },
    }));
}

/** Cases of evaluations that were made of their conversations, or of what was done for them. */
async function* casesOf(db: Kysely<Tables>, entityId: string): Pages {
  const made = db
    .selectFrom('evaluation_cases')
    .innerJoin('runs', 'runs.id', 'evaluation_cases.run_id')
    .leftJoin('contexts', 'contexts.id', 'runs.thread_id')
    .select(['evaluation_cases.id', 'name', 'input', 'expected', 'run_id', 'evaluation_cases.created_at'])
    .where((eb) => eb.or([eb('runs.entity_id', '=', entityId), eb('contexts.owner_id', '=', entityId)]))
    .orderBy('evaluation_cases.id')
    .limit(PAGE);
  for await (const cases of pagesBy((after) => made.where('evaluation_cases.id', '>', after).execute()))
    yield cases.map(({ id, name, input, expected, run_id, created_at }) => ({
      ...{ type: 'evaluation_case', id, name, input: fromJson(input), expected: fromJson(expected) },
      ...{ runId: run_id, createdAt: created_at },
    }));
}

/** Browsers that are signed in as them, and the tokens that were created for them. Tokens themselves are not stored. */
async function accessOf(db: Kysely<Tables>, entityId: string): Promise<readonly Line[]> {
  const sessions = await db
    .selectFrom('sessions')
    .select(['id', 'created_at', 'expires_at'])
    .where('entity_id', '=', entityId)
    .execute();
  const tokens = await db
    .selectFrom('audit')
    .select('at')
    .where('subject_id', '=', entityId)
    .where('action', '=', 'post_entities_id_token')
    .orderBy('id', 'desc')
    .limit(MOST_TOKENS)
    .execute();
  return [
    ...sessions.map((row) => ({ type: 'session', id: row.id, createdAt: row.created_at, expiresAt: row.expires_at })),
    ...tokens.map(({ at }) => ({ type: 'token', createdAt: at })),
  ];
}

const MOST_TOKENS = 10_000;

/** Rows in the order of their ids. */
async function* pagesBy<Row extends { readonly id: string }>(
  read: (after: string) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  for (let after = ''; ; ) {
    const rows = await read(after);
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = last.id;
  }
}
