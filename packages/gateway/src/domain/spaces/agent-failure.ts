import type { Kysely } from 'kysely';
import type { AgentFailureRow, Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';

/** A failure of an agent in a space, as people read it. */
export interface AgentFailure {
  readonly runId: string;
  readonly text: string;
  readonly at: number;
  /** The time of the next attempt. Undefined if there is none. */
  readonly retryAt?: number;
}

export interface NewFailure extends Omit<AgentFailure, 'at' | 'retryAt'> {
  readonly spaceId: string;
  readonly entityId: string;
  readonly retryAt: number | undefined;
}

/** Stores the newest failure of an agent in a space, for people who open the space later. */
export async function keepFailure(tx: Tx, { spaceId, entityId, runId, text, retryAt }: NewFailure): Promise<void> {
  const space = await tx.db.selectFrom('spaces').select('next_seq').where('id', '=', spaceId).executeTakeFirst();
  const told = {
    run_id: runId,
    text,
    retry_at: retryAt ?? null,
    after_seq: (space?.next_seq ?? 1) - 1,
    failed_at: tx.now(),
  };
  await tx.db
    .insertInto('agent_failures')
    .values({ space_id: spaceId, entity_id: entityId, ...told })
    .onConflict((conflict) => conflict.columns(['space_id', 'entity_id']).doUpdateSet(told))
    .execute();
}

/**
 * The failures in a space that are still current, by entity: the failed work has not been started again, and the agent has
 * written nothing there since.
 */
export async function currentFailures(db: Kysely<Tables>, spaceId: string): Promise<ReadonlyMap<string, AgentFailure>> {
  const rows = await db
    .selectFrom('agent_failures')
    .selectAll()
    .where('space_id', '=', spaceId)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('inbox_events')
          .select('inbox_events.id')
          .whereRef('inbox_events.run_id', '=', 'agent_failures.run_id')
          .where('inbox_events.status', 'in', ['dead', 'pending']),
      ),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('messages')
            .select('messages.id')
            .whereRef('messages.space_id', '=', 'agent_failures.space_id')
            .whereRef('messages.seq', '>', 'agent_failures.after_seq')
            .whereRef('messages.entity_id', '=', 'agent_failures.entity_id'),
        ),
      ),
    )
    .execute();
  return new Map(rows.map((row) => [row.entity_id, toFailure(row)]));
}

function toFailure({ run_id: runId, text, failed_at: at, retry_at }: AgentFailureRow): AgentFailure {
  return { runId, text, at, ...(retry_at === null ? {} : { retryAt: retry_at }) };
}
