import { sql } from 'kysely';
import type { Services } from '../../ports/services.ts';
import { chunkRows } from '../../ports/store/chunk-rows.ts';
import type { UsageRequestRow, UsageRow } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';

/** How many requests one transaction adds up. */
const MOST = 1_000;
/** A reservation without a running run is left alone for so long: a summary is written after its run has ended. */
const LOST_MS = 30 * 60_000;

/**
 * Adds the requests of ended runs to the sums by day, agent, model, person and kind, and deletes their rows. A report then reads few rows,
 * and the runs themselves never wait for a row that others write. Several gateways may do this at once: each takes other rows.
 */
export async function foldUsage({ store }: Pick<Services, 'store'>): Promise<void> {
  const [waiting] = await store.db.selectFrom('usage_requests').select('id').limit(1).execute();
  if (waiting === undefined) return;
  await store.transaction(async (tx) => {
    await tx.db
      .updateTable('usage_requests')
      .set((eb) => ({ reserved: 0, estimated: eb.ref('requests') }))
      .where('reserved', '=', 1)
      .where('created_at', '<', tx.now() - LOST_MS)
      .where(isOfNoRunningRun)
      .execute();
  });
  for (;;) if ((await store.transaction(foldSome)) < MOST) return;
}

async function foldSome(tx: Tx): Promise<number> {
  let query = tx.db
    .selectFrom('usage_requests')
    .selectAll()
    .where('reserved', '=', 0)
    .where(isOfNoRunningRun)
    .orderBy('id')
    .limit(MOST);
  if (tx.dialect === 'postgres') query = query.forUpdate().skipLocked();
  const rows = await query.execute();
  if (rows.length === 0) return 0;
  for (const sums of chunkRows(toSums(rows))) await addToSums(tx, sums);
  const ids = rows.map(({ id }) => id);
  await tx.db.deleteFrom('usage_requests').where('id', 'in', ids).execute();
  return rows.length;
}

/** The rows of a running run stay: they say what the run has spent. */
const isOfNoRunningRun = sql<boolean>`not exists (select 1 from runs where runs.id = usage_requests.run_id and runs.status = 'running')`;

const AMOUNTS = [
  'requests',
  'input_tokens',
  'cached_tokens',
  'output_tokens',
  'cost',
  'unpriced',
  'estimated',
] as const satisfies readonly (keyof UsageRow)[];

/** One row for each sum, in the order of their keys: two gateways that lock the same rows lock them in the same order. */
function toSums(rows: readonly UsageRequestRow[]): readonly UsageRow[] {
  const sums = new Map<string, UsageRow>();
  for (const { id: _id, run_id: _run, reserved: _reserved, created_at: _at, ...row } of rows) {
    const key = JSON.stringify([row.day, row.agent_id, row.model, row.entity_id, row.kind, row.currency]);
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, { ...row });
    else for (const name of AMOUNTS) sum[name] += row[name];
  }
  return [...sums].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum);
}

async function addToSums(tx: Tx, sums: readonly UsageRow[]): Promise<void> {
  await tx.db
    .insertInto('usage')
    .values(sums)
    .onConflict((conflict) =>
      conflict
        .columns(['day', 'agent_id', 'model', 'entity_id', 'kind', 'currency'])
        .doUpdateSet(
          Object.fromEntries(
            AMOUNTS.map((name) => [name, sql`${sql.ref(`usage.${name}`)} + ${sql.ref(`excluded.${name}`)}`]),
          ),
        ),
    )
    .execute();
}
