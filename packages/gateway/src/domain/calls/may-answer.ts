import type { Kysely, SelectQueryBuilder } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { ApiError, notFound } from '../api-error.ts';
import { usableBy } from '../conversations/usable-by.ts';
import { isId } from '../entities/column-text.ts';
import type { WaitingCall } from './waiting-call.ts';

/**
 * The answerer: an entity, an operator or a hook. An operator who acts for a person answers as that person; otherwise the key is
 * recorded.
 */
export type Answerer =
  | { readonly entityId: string }
  | { readonly key: true; readonly keyId?: string; readonly entityId?: string | undefined }
  | HookAnswerer;

/** A signed request of a service, which answers calls of these tools of this agent. */
interface HookAnswerer {
  readonly hook: string;
  readonly agentId: string;
  readonly tools: readonly string[];
  readonly entityId?: undefined;
}

/** The value of `answered_by`. */
export function answererId(by: Answerer): string {
  if ('hook' in by) return `hook:${by.hook}`;
  if (!('key' in by)) return by.entityId;
  if (by.entityId !== undefined) return by.entityId;
  return by.keyId === undefined ? 'key' : `key:${by.keyId}`;
}

/**
 * Checks who may answer: by default the members of the card's space, or those of them whom the tool names. For entities that are
 * not members, the call is "not found"; a call without a card is visible only to the entities that the tool names, and a call of
 * a conversation to its owner. Operators may answer every call. The right holds until the commit: a removal from the space or a change
 * of the role waits for it.
 */
export async function assertMayAnswer(tx: Tx, call: WaitingCall, by: Answerer): Promise<void> {
  if ('key' in by) return;
  if ('hook' in by) {
    const isOwn = call.kind === 'result' && call.agentId === by.agentId && by.tools.includes(call.toolName);
    if (!isOwn) throw notFound('waiting call', call.callId);
    return;
  }
  const role = call.spaceId === undefined ? undefined : await lockRole(tx, call.spaceId, by.entityId);
  const isOwner = call.spaceId === undefined && (await ownsConversation(tx.db, call.runId, by.entityId));
  const may = answerRight(await withoutStrangers(tx.db, call, by.entityId), { entityId: by.entityId, role, isOwner });
  if (may === 'unknown') throw notFound('waiting call', call.callId);
  if (may === 'no') throw new ApiError('may_not_answer', `You may not answer calls of the tool "${call.toolName}".`);
}

export type AnswerRight = 'yes' | 'no' | 'unknown';

/**
 * `role` is the entity's role in the card's space. It is undefined if the entity is not a member. `isOwner`: the call is in a
 * conversation that belongs to the entity.
 */
export function answerRight(
  { spaceId, answeredBy }: Pick<WaitingCall, 'spaceId' | 'answeredBy'>,
  { entityId, role, isOwner = false }: { entityId: string; role: string | undefined; isOwner?: boolean },
): AnswerRight {
  const named = answeredBy?.entities?.includes(entityId) === true;
  if (spaceId === undefined && isOwner) return named || answeredBy === undefined ? 'yes' : 'no';
  if (spaceId === undefined) return named ? 'yes' : 'unknown';
  if (role === undefined) return 'unknown';
  return answeredBy === undefined || named || answeredBy.roles?.includes(role) === true ? 'yes' : 'no';
}

/**
 * True if the entity may answer a call without a card, or could have answered it. The agent may have left the space that it
 * asked.
 */
export async function mayAnswerUnseen(db: Kysely<Tables>, call: WaitingCall, entityId: string): Promise<boolean> {
  const role = call.spaceId === undefined ? undefined : await roleIn(db, call.spaceId, entityId).executeTakeFirst();
  const isOwner = call.spaceId === undefined && (await ownsConversation(db, call.runId, entityId));
  return answerRight(await withoutStrangers(db, call, entityId), { entityId, role: role?.role, isOwner }) === 'yes';
}

/** A tool that several projects share may name people of one of them. For the calls of another project, they are not named. */
async function withoutStrangers(db: Kysely<Tables>, call: WaitingCall, entityId: string): Promise<WaitingCall> {
  const { spaceId, answeredBy } = call;
  if (spaceId !== undefined || answeredBy?.entities?.includes(entityId) !== true) return call;
  const own = db
    .selectFrom('agents')
    .innerJoin('entities', 'entities.project_id', 'agents.project_id')
    .select('agents.id')
    .where('agents.id', '=', call.agentId)
    .where('entities.id', '=', entityId);
  return (await own.executeTakeFirst()) === undefined ? { ...call, answeredBy: { entities: [] } } : call;
}

async function lockRole(tx: Tx, spaceId: string, entityId: string): Promise<string | undefined> {
  if (!isId(entityId)) return undefined;
  const row = await roleIn(tx.db, spaceId, entityId).forShare().executeTakeFirst();
  return row?.role;
}

function roleIn(
  db: Kysely<Tables>,
  spaceId: string,
  entityId: string,
): SelectQueryBuilder<Tables, 'memberships', { role: string }> {
  return db
    .selectFrom('memberships')
    .select('role')
    .where('space_id', '=', spaceId)
    .where('entity_id', '=', entityId)
    .where('left_at', 'is', null);
}

async function ownsConversation(db: Kysely<Tables>, runId: string, entityId: string): Promise<boolean> {
  const owned = await db
    .selectFrom('runs')
    .innerJoin('contexts', 'contexts.id', 'runs.thread_id')
    .select('contexts.id')
    .where('runs.id', '=', runId)
    .where(usableBy(entityId))
    .executeTakeFirst();
  return owned !== undefined;
}
