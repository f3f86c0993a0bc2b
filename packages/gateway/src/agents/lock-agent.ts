import { sql } from 'kysely';
import { notFound } from '../api-error.ts';
import { isId } from '../entities/plain-text.ts';
import type { Tx } from '../store/store.ts';
import type { AgentRow } from '../store/tables.ts';

/**
 * The row of an agent that is not deleted, and is not until the commit. `share` is for whoever only relies on it; `change` for
 * whoever reads it to write it.
 */
export async function lockAgent(tx: Tx, agentId: string, purpose: 'share' | 'change'): Promise<AgentRow> {
  if (!isId(agentId)) throw notFound('agent', agentId);
  const row = tx.db.selectFrom('agents').selectAll().where('id', '=', agentId).where('status', '!=', 'deleted');
  const lock = purpose === 'share' ? sql`for share` : sql`for no key update`;
  const agent = await (tx.dialect === 'postgres' ? row.modifyEnd(lock) : row).executeTakeFirst();
  if (agent === undefined) throw notFound('agent', agentId);
  return agent;
}
