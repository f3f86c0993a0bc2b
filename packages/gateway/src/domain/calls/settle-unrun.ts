import { toJson } from '../../ports/store/schema/json.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';

/**
 * Settles the calls of a deleted agent that no run will settle: those that waited for an answer, and those that were approved but have not
 * been run. Calls on a thread with a run under way are left: the run settles its own, and this is called again when it ends.
 */
export function settleUnrun(tx: Tx, agentId: string): void {
  tx.send(settle, { agentId, now: tx.now(), outcome: OUTCOME });
}

const OUTCOME = toJson({
  status: 'cancelled',
  reason: 'The agent was deleted.',
  text: 'Cancelled: The agent was deleted.',
});

const settle = statement((db, { agentId, now, outcome }: Params<{ agentId: string; now: number; outcome: string }>) =>
  db
    .updateTable('calls')
    .set({ status: 'settled', settled_at: now, outcome, outcome_status: 'cancelled' })
    // Null for an agent that is not deleted. Then the database looks at none of the calls, however many have ever waited.
    .where('agent_id', '=', (eb) =>
      eb.selectFrom('agents').select('id').where('id', '=', agentId).where('agents.status', '=', 'deleted'),
    )
    .where('wait_status', 'is not', null)
    .where('status', '=', 'pending')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('runs')
            .select('runs.id')
            .whereRef('runs.thread_id', '=', 'calls.thread_id')
            .where('runs.status', '=', 'running'),
        ),
      ),
    ),
);
