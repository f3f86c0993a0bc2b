import type { Services } from '../../ports/services.ts';
import { toJson } from '../../ports/store/json.ts';
import { lockRows } from '../../ports/store/lock-rows.ts';
import type { Tx } from '../../ports/store/store.ts';
import { cancelPending } from '../pending/cancel-pending.ts';
import { cancelRunsOf } from '../runs/request-cancel.ts';
import { removeMember } from '../spaces/membership.ts';
import { cancelCards } from '../spaces/tool-card.ts';
import { findAgent } from './agent.ts';
import { lockAgent, lockThreads } from './lock-agent.ts';

/**
 * Ends the agent: its open calls are cancelled, what waits for it is dead, and nothing wakes it any more. What it said stays, by an
 * author who is gone. Its runs, its transcript and what it never read stay for operators.
 */
export async function deleteAgent(services: Services, tx: Tx, agentId: string): Promise<void> {
  const { entity_id: entityId } = await findAgent(tx.db, agentId);
  // A worker that is about to begin a run has written it, and it is asked to end; or finds the agent deleted, and begins none.
  await lockThreads(tx, agentId);
  await leaveSpaces(services, tx, entityId);
  await markDeleted(tx, agentId, entityId);
  // It may have joined another one until its row was ours.
  await leaveSpaces(services, tx, entityId);
  await cancelPending(services, tx, { agentId });
  // A call that was approved and waits for the agent to run it is pending no more, and its card is still open.
  await cancelCards(services, tx, entityId);
  await tx.db.updateTable('plans').set({ next_at: null }).where('agent_id', '=', agentId).execute();
  // Runs before their events: that is how a run that ends takes them, so the two do not wait for each other.
  await cancelRunsOf(services, tx, agentId);
  await buryInbox(tx, agentId);
}

async function leaveSpaces(services: Services, tx: Tx, entityId: string): Promise<void> {
  // All of them before anything else is written.
  await lockRows(tx, { spaces: await spacesOf(tx, entityId) });
  // Asked again, now that they are ours: somebody may have taken the agent out of one until then.
  for (const spaceId of await spacesOf(tx, entityId)) await removeMember(services, tx, { spaceId, entityId });
}

async function spacesOf(tx: Tx, entityId: string): Promise<readonly string[]> {
  const joined = await tx.db
    .selectFrom('memberships')
    .select('space_id')
    .where('entity_id', '=', entityId)
    .where('left_at', 'is', null)
    .execute();
  return joined.map(({ space_id }) => space_id);
}

async function markDeleted(tx: Tx, agentId: string, entityId: string): Promise<void> {
  await lockAgent(tx, agentId, 'change');
  const now = tx.now();
  await tx.db
    .updateTable('agents')
    .set({ status: 'deleted', active_space_id: null, updated_at: now })
    .where('id', '=', agentId)
    .execute();
  await tx.db.updateTable('entities').set({ deleted_at: now }).where('id', '=', entityId).execute();
}

/** Dead rather than gone: an operator still sees what nobody read. */
async function buryInbox(tx: Tx, agentId: string): Promise<void> {
  await tx.db
    .updateTable('inbox_events')
    .set({ status: 'dead', error: toJson({ code: 'agent_deleted', message: 'The agent was deleted.' }) })
    .where('agent_id', '=', agentId)
    .where('status', 'in', ['pending', 'claimed', 'withheld'])
    .execute();
}
