import { insertRow } from '../../ports/store/insert-row.ts';
import type { UsageRequestRow } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { type CountedRequest, dayOf, type Pricing, toAmounts, type UsageOwner } from './usage-row.ts';

/** A request that is counted. It has the id of its reservation, or a new one. */
export interface NewUsage extends CountedRequest {
  readonly id: string;
  /** True if it was reserved: see runtime/spend/reserve-request.ts. */
  readonly isReserved: boolean;
}

/**
 * Counts requests in the transaction that stores their replies. Rows are only inserted, and no two workers write the same row, so this
 * waits for no one. `foldUsage` adds them up later.
 */
export function countUsage(tx: Tx, owner: UsageOwner, counted: readonly NewUsage[], pricing: Pricing): void {
  for (const one of counted) {
    const amounts = toAmounts(one, pricing);
    if (one.isReserved) tx.send(settleReserved, { id: one.id, ...amounts });
    else tx.send(insertUsage, toRow(tx, owner, one, { ...amounts, reserved: 0 }));
  }
}

/** Notes a request before it is sent, with an estimate. If this process dies, the estimate counts. */
export function reserveUsage(tx: Tx, owner: UsageOwner, asked: Omit<NewUsage, 'isReserved'>, pricing: Pricing): void {
  tx.send(insertUsage, toRow(tx, owner, asked, { ...toAmounts(asked, pricing), reserved: 1 }));
}

function toRow(
  tx: Tx,
  { runId, agentId, entityId }: UsageOwner,
  { id }: Pick<NewUsage, 'id'>,
  amounts: Pick<UsageRequestRow, 'reserved'> & ReturnType<typeof toAmounts>,
): UsageRequestRow {
  const now = tx.now();
  return { id, run_id: runId, agent_id: agentId, entity_id: entityId, day: dayOf(now), created_at: now, ...amounts };
}

const insertUsage = insertRow('usage_requests', {
  numbers: [
    'requests',
    'input_tokens',
    'cached_tokens',
    'output_tokens',
    'unpriced',
    'estimated',
    'reserved',
    'created_at',
  ],
  decimals: ['cost'],
});

type Settled = Pick<UsageRequestRow, 'id'> & ReturnType<typeof toAmounts>;

/** If another worker took the run over meanwhile, the estimate was counted, and stays. */
const settleReserved = statement((db, row: Params<Settled>) =>
  db
    .updateTable('usage_requests')
    .set({
      model: row.model,
      kind: row.kind,
      currency: row.currency,
      requests: row.requests,
      input_tokens: row.input_tokens,
      cached_tokens: row.cached_tokens,
      output_tokens: row.output_tokens,
      cost: row.cost,
      unpriced: row.unpriced,
      estimated: row.estimated,
      reserved: 0,
    })
    .where('id', '=', row.id)
    .where('reserved', '=', 1),
);

/**
 * Counts the requests of a run whose worker died before it counted them: they were sent, or were about to be. It is not known what they
 * cost, so the estimates count.
 */
export async function countLost(tx: Tx, runId: string): Promise<void> {
  await tx.db
    .updateTable('usage_requests')
    .set((eb) => ({ reserved: 0, estimated: eb.ref('requests') }))
    .where('run_id', '=', runId)
    .where('reserved', '=', 1)
    .execute();
}
