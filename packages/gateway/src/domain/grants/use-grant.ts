import type { Kysely, Selectable } from 'kysely';
import { sql } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { GrantRow, Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { ApiError } from '../api-error.ts';
import { nameOfAnswerer } from '../calls/answerer-name.ts';
import { assertMayAnswer } from '../calls/may-answer.ts';
import { toWaitingCall } from '../calls/waiting-call.ts';
import type { CardCall } from '../spaces/card-call.ts';
import { type Condition, isCovered } from './condition.ts';
import { isActive, isOfRun } from './is-active.ts';

/** A call that would wait for approval. */
export interface GrantUse {
  readonly callId: string;
  readonly toolName: string;
  /** The input as the tool gets it. */
  readonly input: unknown;
  /** The tool as it is now, in the form of `asked_definition`. */
  readonly definition: string;
  /** The space in which its card would be. */
  readonly spaceId: string | null;
}

interface UsedIn {
  readonly agentId: string;
  readonly threadId: string;
  readonly runId: string;
}

/** The grant that covers a call. `card` is what its card shows. */
export interface UsedGrant {
  readonly id: string;
  readonly card: CardCall;
}

/** True if a grant may cover a call of the tool. Most agents have none, and then nothing else is done. */
export async function hasGrants(db: Kysely<Tables>, agentId: string, toolName: string): Promise<boolean> {
  const one = db
    .selectFrom('grants')
    .select('id')
    .where('agent_id', '=', agentId)
    .where('tool_name', '=', toolName)
    .where('ended_at', 'is', null)
    .limit(1);
  return (await one.executeTakeFirst()) !== undefined;
}

/**
 * Finds a grant that covers the call, and stores that the call runs because of it. The grant is read and locked in this transaction: a
 * revocation that was committed before it counts, on whichever gateway it was made, and a later one waits for it. Returns undefined if the
 * call has to wait.
 */
export async function useGrant(tx: Tx, use: GrantUse, of: UsedIn): Promise<UsedGrant | undefined> {
  const call = await tx.db
    .selectFrom('calls')
    .select('grant_id')
    .where('id', '=', use.callId)
    .where('agent_id', '=', of.agentId)
    .executeTakeFirst();
  // A call inside another call has no row, and people would not see which grant it had.
  if (call === undefined) return undefined;
  const grant = await findCovering(tx, use, of);
  const before = call.grant_id;
  const id = grant?.id ?? null;
  // A worker that takes a run over asks again for a call that had not started.
  if (before !== id) await tx.db.updateTable('calls').set({ grant_id: id }).where('id', '=', use.callId).execute();
  if (grant === undefined) return undefined;
  if (before !== id) await countUse(tx, grant.id);
  const by = { id: grant.granted_by, name: await nameOfAnswerer(tx.db, grant.granted_by) };
  return {
    id: grant.id,
    card: { kind: 'approval', decision: 'approve', by, at: grant.created_at, grantId: grant.id },
  };
}

async function findCovering(tx: Tx, use: GrantUse, of: UsedIn): Promise<Selectable<GrantRow> | undefined> {
  await endPast(tx, use.toolName, of.agentId);
  const candidates = await tx.db
    .selectFrom('grants')
    .selectAll('grants')
    .where('agent_id', '=', of.agentId)
    .where('tool_name', '=', use.toolName)
    .where(isActive(tx.now()))
    .where((eb) => eb.or([eb('lasts', '!=', 'run'), isOfRun(of.runId)]))
    .where((eb) =>
      eb.or([eb('reach', '=', 'agent'), eb.and([eb('thread_id', '=', of.threadId), isInSpace(use.spaceId)])]),
    )
    .orderBy('id')
    .forUpdate()
    .execute();
  for (const grant of candidates) {
    if (grant.definition !== use.definition) await endChanged(tx, grant.id);
    else if (isCovered(fromJson<Condition[]>(grant.conditions), use.input) && (await mayStillAnswer(tx, grant)))
      return grant;
  }
  return undefined;
}

function isInSpace(spaceId: string | null) {
  return spaceId === null ? sql<boolean>`grants.space_id is null` : sql<boolean>`grants.space_id = ${spaceId}`;
}

/** A grant of a person who may no longer answer such calls, e.g. because they left the space, covers nothing. */
async function mayStillAnswer(
  tx: Tx,
  { call_id: callId, reach, granted_by: entityId }: Selectable<GrantRow>,
): Promise<boolean> {
  if (reach === 'agent') return true;
  const row = await tx.db.selectFrom('calls').selectAll().where('id', '=', callId).executeTakeFirst();
  const person = await tx.db
    .selectFrom('entities')
    .select('id')
    .where('id', '=', entityId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined || row.wait_kind === null || person === undefined) return false;
  try {
    await assertMayAnswer(tx, toWaitingCall(row), { entityId });
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

/** Grants whose time or run is over would be looked at for each call otherwise. */
async function endPast(tx: Tx, toolName: string, agentId: string): Promise<void> {
  const now = tx.now();
  await tx.db
    .updateTable('grants')
    .set({
      ended_at: sql<number>`coalesce(expires_at, ${now})`,
      end_reason: sql<'expired' | 'run_ended'>`case when lasts = 'run' then 'run_ended' else 'expired' end`,
    })
    .where('agent_id', '=', agentId)
    .where('tool_name', '=', toolName)
    .where('ended_at', 'is', null)
    .where(sql<boolean>`not ${isActive(now)}`)
    .execute();
}

async function endChanged(tx: Tx, id: string): Promise<void> {
  await tx.db
    .updateTable('grants')
    .set({ ended_at: tx.now(), end_reason: 'tool_changed' })
    .where('id', '=', id)
    .execute();
}

async function countUse(tx: Tx, id: string): Promise<void> {
  await tx.db
    .updateTable('grants')
    .set((eb) => ({ uses: eb('uses', '+', 1), last_used_at: tx.now() }))
    .where('id', '=', id)
    .execute();
}
