import { sql } from 'kysely';
import type { DaySpendLimits } from '../../config/spend-limits.ts';
import { noteLimit } from '../../domain/notify/note-event.ts';
import { type NewUsage, reserveUsage } from '../../domain/usage/count-usage.ts';
import { type SpendScope, spentOn } from '../../domain/usage/spent.ts';
import { dayOf, type Pricing, type UsageOwner } from '../../domain/usage/usage-row.ts';
import type { Tx } from '../../ports/store/store.ts';
import { dayLimitReached, type SpendRefusal } from './spend-refusal.ts';

export interface LimitedScope extends SpendScope {
  readonly limits: DaySpendLimits;
}

interface Reservation {
  readonly owner: UsageOwner;
  readonly asked: Omit<NewUsage, 'isReserved'>;
  readonly pricing: Pricing & { readonly currency: string };
  readonly scopes: readonly LimitedScope[];
}

/**
 * Checks the limits of the day and notes the request with an estimate, in one transaction: of two gateways that ask at the same time, the
 * second one sees what the first one reserved. Returns the limit that is reached, and then notes nothing.
 */
export async function reserveRequest(
  tx: Tx,
  { owner, asked, pricing, scopes }: Reservation,
): Promise<(SpendRefusal & { readonly isFirst: boolean }) | undefined> {
  const now = tx.now();
  const day = dayOf(now);
  await lockScopes(tx, scopes);
  for (const scope of scopes) {
    const spent = await spentOn(tx.db, scope, { day, currency: pricing.currency });
    const reached = dayLimitReached(scope, scope.limits, spent, now);
    if (reached !== undefined) {
      const isFirst = await noteReached(tx, reached, { day, runId: owner.runId });
      if (isFirst) await noteLimit(tx, { ...owner, scope: scope.scope, scopeId: scope.id });
      return { ...reached, isFirst };
    }
  }
  reserveUsage(tx, owner, asked, pricing);
  return undefined;
}

/** SQLite runs one writing transaction at a time anyway. All gateways lock in the same order. */
async function lockScopes(tx: Tx, scopes: readonly SpendScope[]): Promise<void> {
  if (tx.dialect !== 'postgres') return;
  const names = scopes.map(({ scope, id }) => `spend:${scope}:${id}`).sort();
  for (const name of names) await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx.db);
}

/** True for the first run of the day that this limit stops. Another limit is notified again. */
async function noteReached(
  tx: Tx,
  { scope, id, limit }: SpendRefusal,
  { day, runId }: { readonly day: string; readonly runId: string },
): Promise<boolean> {
  if (scope === 'run') return false;
  const { rows } = await sql`
    insert into spend_reached (scope, id, day, amount, run_id) values (${scope}, ${id}, ${day}, ${limit}, ${runId})
    on conflict (scope, id) do update set day = excluded.day, amount = excluded.amount, run_id = excluded.run_id
    where spend_reached.day <> excluded.day or spend_reached.amount <> excluded.amount
    returning id`.execute(tx.db);
  return rows.length > 0;
}
