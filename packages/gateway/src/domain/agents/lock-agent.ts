import { COLUMNS } from '../../ports/store/schema/columns.ts';
import type { AgentRow } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';
import { isToolCaller } from './tool-caller.ts';

/**
 * Why the row of an agent is locked:
 * - `share`: the agent must not change until the commit.
 * - `inbox`: its waiting events are counted, to add one. Other transactions that count wait.
 * - `change`: the row is read and then written. The thread is locked first, because a run reads the agent under the thread's lock:
 *   otherwise a run could start with the old row after the change was confirmed.
 */
export type AgentLock = 'share' | 'inbox' | 'change';

/** Locks and returns the row of an agent that is not deleted. It is not deleted before the commit. */
export async function lockAgent(tx: Tx, agentId: string, purpose: AgentLock): Promise<AgentRow> {
  const agent = await lockAgentIfExists(tx, agentId, purpose);
  if (agent === undefined) throw notFound('agent', agentId);
  return agent;
}

/** Returns undefined if there is no such agent, or it was deleted. */
export async function lockAgentIfExists(tx: Tx, agentId: string, purpose: AgentLock): Promise<AgentRow | undefined> {
  if (!isId(agentId) || isToolCaller(agentId)) return undefined;
  if (purpose === 'inbox') {
    tx.runAlone(agentId);
    return (await lockForInbox(tx.db, { agentId }))[0];
  }
  tx.runAlone();
  if (purpose === 'change') await lockThreads(tx, agentId);
  const row = tx.db.selectFrom('agents').selectAll().where('id', '=', agentId).where('status', '!=', 'deleted');
  return await (purpose === 'share' ? row.forShare() : row.forNoKeyUpdate()).executeTakeFirst();
}

const lockForInbox = statement(
  (db, { agentId }: Params<{ agentId: string }>) =>
    db
      .selectFrom('agents')
      .select(COLUMNS.agents)
      .where('id', '=', agentId)
      .where('status', '!=', 'deleted')
      .forNoKeyUpdate(),
  { types: { agentId: 'text' }, key: 'agentId' },
);

/** Waits for a worker that is starting a run. A later one sees the agent as it is after our commit. */
export async function lockThreads(tx: Tx, agentId: string): Promise<void> {
  tx.runAlone();
  const threads = tx.db.selectFrom('threads').select('id').where('agent_id', '=', agentId).orderBy('id');
  await threads.forNoKeyUpdate().execute();
}
