import { sql } from 'kysely';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { RateLimit } from './key-limits.ts';

/**
 * A period is counted in so many parts. A part counts until all of it is older than the period, so that no period ever has more requests
 * than the limit, and a key waits at most a twentieth of the period longer than it has to.
 */
const PARTS = 20;

/** The requests in each part of the last period: the number of the part, counted since 1970, and how many. */
type Used = readonly (readonly [part: number, requests: number])[];

/**
 * Counts a request of a key. Returns the seconds after which the next one may be allowed, if this one is not. All gateways count in one
 * row, which is locked until the commit: use a transaction that does nothing else.
 */
export async function takeRequest(
  tx: Pick<Tx, 'db' | 'now'>,
  keyId: string,
  rate: RateLimit,
): Promise<number | undefined> {
  const partMs = (rate.seconds * 1_000) / PARTS;
  const used = await lockUsed(tx, keyId);
  // The clock of another gateway may be ahead of this one. What it counted more than a period ahead is not waited for.
  const clock = Math.floor(tx.now() / partMs);
  const known = used.filter(([part]) => part <= clock + PARTS);
  const now = Math.max(clock, known.at(-1)?.[0] ?? 0);
  const recent = known.filter(([part]) => part >= now - PARTS);
  const count = recent.reduce((sum, [, requests]) => sum + requests, 0);
  if (count >= rate.requests) {
    const [oldest = now] = recent[0] ?? [];
    return Math.max(1, Math.ceil(((oldest + PARTS + 1) * partMs - tx.now()) / 1_000));
  }
  const last = recent.at(-1);
  const next: Used = last?.[0] === now ? [...recent.slice(0, -1), [now, last[1] + 1]] : [...recent, [now, 1]];
  await tx.db
    .updateTable('key_rates')
    .set({ used: toJson(next) })
    .where('key_id', '=', keyId)
    .execute();
  return undefined;
}

/** An update that changes nothing locks the row. */
async function lockUsed(tx: Pick<Tx, 'db'>, keyId: string): Promise<Used> {
  const { rows } = await sql<{ used: string }>`
    insert into key_rates (key_id, used) values (${keyId}, '[]')
    on conflict (key_id) do update set used = key_rates.used returning used`.execute(tx.db);
  return fromJson<Used>(rows[0]?.used ?? '[]');
}
