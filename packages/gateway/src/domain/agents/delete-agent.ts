import { lockRows } from '../../ports/store/lock-rows.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import { cancelWaiting } from '../calls/cancel-waiting.ts';
import { settleUnrun } from '../calls/settle-unrun.ts';
import { deleteFilesOfAgent } from '../files/delete-files.ts';
import { endGrantsOfAgent } from '../grants/end-grants.ts';
import { tellUnstarted } from '../runs/queued-run.ts';
import { cancelRunsOf } from '../runs/request-cancel.ts';
import { removeMember } from '../spaces/membership.ts';
import { cancelCards } from '../spaces/tool-card.ts';
import { noteToolUses } from '../tools/used-by.ts';
import { findAgent } from './agent.ts';
import { lockAgent, lockThreads } from './lock-agent.ts';

/**
 * Deletes the agent: its open calls are cancelled, its waiting events become dead, and nothing wakes it again. Its
 * messages stay, with a deleted author. Its files are deleted. Its runs, its transcript and the events it never read stay for operators.
 */
export async function deleteAgent(tx: Tx, agentId: string): Promise<void> {
  const { entity_id: entityId } = await findAgent(tx.db, agentId);
  // A worker that is starting a run has either written it, so that the run is cancelled below, or finds the agent
  // deleted and starts none.
  await lockThreads(tx, agentId);
  await leaveSpaces(tx, entityId);
  await markDeleted(tx, agentId, entityId);
  // The agent may have joined another space before its row was locked.
  await leaveSpaces(tx, entityId);
  await cancelWaiting(tx, { agentId });
  // An approved call that waits for the agent to run it is no longer pending, but its card is still open. The card of a call that has
  // started is left to its run, which is cancelled below: the call may have taken effect.
  await cancelCards(tx, entityId);
  await noteToolUses(tx, agentId, {});
  await endGrantsOfAgent(tx, agentId);
  await tx.db.updateTable('plans').set({ next_at: null }).where('agent_id', '=', agentId).execute();
  // Runs come before their events, in the same order as when a run ends, so that the two never wait for each other.
  await cancelRunsOf(tx, agentId);
  settleUnrun(tx, agentId);
  // A run that is under way stores no more files, because it is cancelled.
  await deleteFilesOfAgent(tx, agentId);
  await markInboxDead(tx, agentId);
}

async function leaveSpaces(tx: Tx, entityId: string): Promise<void> {
  // All spaces are locked before anything else is written.
  await lockRows(tx, { spaces: await spacesOf(tx, entityId) });
  // Read again under the locks: the agent may have been removed from a space meanwhile.
  for (const spaceId of await spacesOf(tx, entityId)) await removeMember(tx, { spaceId, entityId });
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

/** The events become dead instead of being deleted, so that operators can see the unread ones. */
async function markInboxDead(tx: Tx, agentId: string): Promise<void> {
  const dead = await tx.db
    .updateTable('inbox_events')
    .set({ status: 'dead', error: toJson({ code: 'agent_deleted', message: 'The agent was deleted.' }) })
    .where('thread_id', 'in', (eb) =>
      eb.selectFrom('threads').select('threads.id').where('threads.agent_id', '=', agentId),
    )
    .where('status', 'in', ['pending', 'claimed', 'withheld'])
    .returning(['type', 'run_id'])
    .execute();
  // Runs that have begun end as cancelled, with their own last event.
  const begun = await begunRuns(
    tx,
    dead.flatMap(({ run_id }) => run_id ?? []),
  );
  const ended = dead.flatMap(({ type, run_id }) => (type === 'chat' || type === 'tool_result' ? (run_id ?? []) : []));
  for (const runId of new Set(ended)) if (!begun.has(runId)) tellUnstarted(tx, runId, 'failed');
}

async function begunRuns(tx: Tx, runIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (runIds.length === 0) return new Set();
  const rows = await tx.db.selectFrom('runs').select('id').where('id', 'in', runIds).execute();
  return new Set(rows.map(({ id }) => id));
}
