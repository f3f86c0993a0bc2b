import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../ports/store/store.ts';
import type { AgentRow } from '../../ports/store/tables.ts';
import { notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';

/**
 * Why the row of an agent is locked:
 * - `share`: the agent must stay as it is until the commit.
 * - `inbox`: its waiting events are counted, to add one. Others who count wait.
 * - `change`: it is read to be written. A cycle reads it under its thread's lock and not under this one, so the thread is locked
 *   first: otherwise a cycle could begin upon the old row after the change was answered.
 */
export type AgentLock = 'share' | 'inbox' | 'change';

/** The row of an agent that is not deleted, and is not until the commit. */
export async function lockAgent(tx: Tx, agentId: string, purpose: AgentLock): Promise<AgentRow> {
  const agent = await lockAgentIfThere(tx, agentId, purpose);
  if (agent === undefined) throw notFound('agent', agentId);
  return agent;
}

/** Undefined: there is no such agent, or it was deleted. */
export async function lockAgentIfThere(tx: Tx, agentId: string, purpose: AgentLock): Promise<AgentRow | undefined> {
  if (!isId(agentId)) return undefined;
  if (purpose === 'change') await lockThreads(tx, agentId);
  const row = tx.db.selectFrom('agents').selectAll().where('id', '=', agentId).where('status', '!=', 'deleted');
  return await (tx.dialect === 'postgres' ? row.modifyEnd(LOCKS[purpose]) : row).executeTakeFirst();
}

const LOCKS: Readonly<Record<AgentLock, RawBuilder<unknown>>> = {
  share: sql`for share`,
  inbox: sql`for no key update`,
  change: sql`for no key update`,
};

/** A worker that is about to begin a cycle has begun it when this answers, or finds the agent as it is after our commit. */
export async function lockThreads(tx: Tx, agentId: string): Promise<void> {
  if (tx.dialect !== 'postgres') return;
  const threads = tx.db.selectFrom('threads').select('id').where('agent_id', '=', agentId).orderBy('id');
  await threads.modifyEnd(sql`for no key update`).execute();
}
