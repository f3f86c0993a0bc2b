import { type Kysely, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import type { CallRow, Tables, WaitStatus } from '../../ports/store/schema/tables.ts';
import { usableBy } from '../conversations/usable-by.ts';
import { isId } from '../entities/column-text.ts';
import { invalid } from '../entities/invalid.ts';
import {
  type DamagedRow,
  damagedRow,
  type Page,
  type PageOptions,
  pageLimit,
  textCursor,
  withDamaged,
} from '../entities/page.ts';
import { EVERYTHING, throughAgents, type View } from '../projects/view.ts';
import { IS_PENDING } from './is-waiting.ts';
import { answerRight } from './may-answer.ts';
import { withNames } from './named-answerers.ts';
import { forAnswerer, toWaitingCall, type WaitingCall } from './waiting-call.ts';

export interface WaitingFilter extends PageOptions {
  /** Only calls that this entity may answer. Without it: all waiting calls, for operators. */
  readonly entityId?: string | undefined;
  readonly agentId?: string | undefined;
  /** Only calls with a card in this space. */
  readonly spaceId?: string | undefined;
  /** Default `pending`. */
  readonly status?: WaitStatus | undefined;
  /** Default: those of all projects. */
  readonly view?: View | undefined;
}

type Listed = Selectable<CallRow> & {
  readonly role: string | null;
  readonly owned_context: string | null;
};

/**
 * Lists waiting calls, soonest expiry first. Calls that do not expire come last, oldest first. Of calls that no longer wait, those that
 * ended last come first.
 */
export async function listWaiting(db: Kysely<Tables>, filter: WaitingFilter = {}): Promise<Page<WaitingCall>> {
  const page = await readConcerning(db, filter);
  return { ...page, items: await withNames(db, page.items) };
}

async function readConcerning(db: Kysely<Tables>, filter: WaitingFilter): Promise<Page<WaitingCall>> {
  const limit = pageLimit(filter.limit);
  const items: WaitingCall[] = [];
  const damaged: DamagedRow[] = [];
  if ([filter.entityId, filter.agentId, filter.spaceId].some((id) => id !== undefined && !isId(id))) return { items };
  for (let after = positionOf(textCursor(filter.cursor)); ; ) {
    const rows = await readPage(db, { ...filter, after }, limit + 1);
    for (const row of rows) {
      const call = readConcerned(row, filter.entityId, damaged);
      if (call === undefined) continue;
      const last = items.at(-1);
      if (items.length === limit && last !== undefined)
        return withDamaged({ items, next: cursorOf(last, filter) }, damaged);
      items.push(call);
    }
    const end = rows.at(-1);
    if (end === undefined || rows.length <= limit) return withDamaged({ items }, damaged);
    after = { at: (isEnded(filter) ? end.answered_at : end.expires_at) ?? NEVER, callId: end.id };
  }
}

/** Sorts calls that do not expire after all others. */
const NEVER = Number.MAX_SAFE_INTEGER;

function isEnded({ status = 'pending' }: WaitingFilter): boolean {
  return status !== 'pending';
}

/** Where a page ended. */
interface Position {
  /** When the call expires, or when it ended. */
  readonly at: number;
  readonly callId: string;
}

function cursorOf({ expiresAt, resolvedAt, callId }: WaitingCall, filter: WaitingFilter): string {
  return `${(isEnded(filter) ? resolvedAt : expiresAt) ?? NEVER}.${callId}`;
}

function positionOf(cursor: string | undefined): Position | undefined {
  if (cursor === undefined) return undefined;
  const [, at, callId = ''] = /^(\d{1,16})\.(.+)$/s.exec(cursor) ?? [];
  if (at === undefined || !Number.isSafeInteger(Number(at)))
    throw invalid('cursor', 'must be the `next` of an earlier page.');
  return { at: Number(at), callId };
}

/** Returns undefined for a call that does not concern the entity. Only operators hear of damaged rows: nothing says whom they concern. */
function readConcerned(row: Listed, entityId: string | undefined, damaged: DamagedRow[]): WaitingCall | undefined {
  try {
    return concerns(row, entityId) ? shownTo(row, entityId) : undefined;
  } catch (error) {
    const one = damagedRow(row.id, error);
    if (entityId === undefined) damaged.push(one);
    return undefined;
  }
}

/** The answerers are JSON, so they are checked for each row, after the database has filtered by space. */
function concerns({ role, owned_context: owned, ...row }: Listed, entityId: string | undefined): boolean {
  if (entityId === undefined) return true;
  return answerRight(toWaitingCall(row), { entityId, role: role ?? undefined, isOwner: owned !== null }) === 'yes';
}

function shownTo({ role: _role, owned_context: _owned, ...row }: Listed, entityId: string | undefined): WaitingCall {
  const call = toWaitingCall(row);
  return entityId === undefined ? call : forAnswerer(call);
}

async function readPage(
  db: Kysely<Tables>,
  {
    entityId,
    agentId,
    spaceId,
    status = 'pending',
    view = EVERYTHING,
    after,
  }: WaitingFilter & { readonly after: Position | undefined },
  limit: number,
): Promise<Listed[]> {
  const isNewestFirst = isEnded({ status });
  const at = isNewestFirst
    ? sql<number>`calls.answered_at`
    : sql<number>`coalesce(calls.expires_at, ${sql.lit(NEVER)})`;
  const [later, direction] = isNewestFirst ? (['<', 'desc'] as const) : (['>', 'asc'] as const);
  let page = db
    .selectFrom('calls')
    .leftJoin('memberships', (join) =>
      join
        .onRef('memberships.space_id', '=', 'calls.space_id')
        .on('memberships.entity_id', '=', entityId ?? '')
        .on('memberships.left_at', 'is', null),
    )
    .leftJoin('runs', 'runs.id', 'calls.run_id')
    .leftJoin('contexts', (join) => join.onRef('contexts.id', '=', 'runs.thread_id').on(usableBy(entityId ?? '')))
    .selectAll('calls')
    .select(['memberships.role', 'contexts.id as owned_context'])
    .where(throughAgents(view, 'calls.agent_id'))
    .where(status === 'pending' ? IS_PENDING : sql<boolean>`calls.wait_status = ${status}`)
    .orderBy(at, direction)
    .orderBy('calls.id', direction)
    .limit(limit);
  if (after !== undefined)
    page = page.where((eb) =>
      eb.or([eb(at, later, after.at), eb.and([eb(at, '=', after.at), eb('calls.id', later, after.callId)])]),
    );
  if (agentId !== undefined) page = page.where('calls.agent_id', '=', agentId);
  if (spaceId !== undefined) page = page.where('calls.space_id', '=', spaceId);
  if (entityId !== undefined)
    page = page.where((eb) =>
      eb.or([
        eb('memberships.role', 'is not', null),
        eb('contexts.id', 'is not', null),
        eb.and([eb('calls.space_id', 'is', null), eb('calls.answerers', 'is not', null), sameProject(entityId)]),
      ]),
    );
  return await page.execute();
}

/** A tool that several projects share may name people of one of them. */
function sameProject(entityId: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`(select project_id from agents where agents.id = calls.agent_id)
    = (select project_id from entities where entities.id = ${entityId})`;
}
