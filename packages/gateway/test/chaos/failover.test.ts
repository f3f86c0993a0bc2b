import { expect, test } from 'vitest';
import { toOpenError } from '../../src/ports/store/postgres/postgres-open-error.ts';
import { openPostgresStore } from '../../src/ports/store/postgres/postgres-store.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { until } from '../processes/until.ts';
import { startPooler, throughPooler } from '../support/pooler.ts';
import { failOver, startReplicated } from '../support/replicated-postgres.ts';
import { insertSetting } from '../support/settings.ts';
import { runChaos } from './chaos.ts';
import { seed } from './seed.ts';
import type { ChaosDatabase } from './storm.ts';

/** `TEST_POOLED=1 vitest run …` puts a pooler in transaction mode in front of the address. */
const IS_POOLED = process.env.TEST_POOLED === '1';

test('[G25] [G37] [G38] [G39] [G41] [G43] [G48] when the primary is killed and its synchronous standby is promoted, two gateways continue, nothing that was confirmed is lost, and nothing happens twice', {
  timeout: 600_000,
}, async () => {
  await using replicated = await startReplicated({ isSynchronous: true });
  expect(await replicated.replication()).toBe('sync');
  await using pooler = IS_POOLED ? await startPooler(replicated.url, { connections: 20 }) : undefined;
  const urls =
    pooler === undefined
      ? { url: replicated.url }
      : { url: throughPooler(replicated.url, pooler), directUrl: replicated.url };
  const store = await openPostgresStore({ ...urls, connections: 2 });
  await write(store, 'before');
  const failover = async (): Promise<void> => {
    await failOver(replicated, () => refusesStandby(store, urls.url));
    await until('the store writes again', () => write(store, 'after').catch(() => false));
  };
  const database: ChaosDatabase = { kind: 'postgres', ...urls, failover };
  const report = await runChaos({ seed, database, gateways: ['a', 'b'], faults: ['failover'] });
  expect(report.problems, `SEED=${seed} ${JSON.stringify(report)}`).toEqual([]);
  expect(report.messages).toBeGreaterThan(0);
  const settings = store.db.selectFrom('settings').select('key').where('key', 'in', ['before', 'after']).orderBy('key');
  expect(await settings.execute()).toEqual([{ key: 'after' }, { key: 'before' }]);
  await store.close();
});

async function write(store: Store, key: string): Promise<true> {
  await store.transaction(async (tx) => void tx.send(insertSetting, { key, value: '1' }));
  return true;
}

/** A standby may show older data than was confirmed, so neither reads nor writes use it, and no gateway starts on it. */
async function refusesStandby(store: Store, url: string): Promise<void> {
  const away = { code: 'store_unavailable', inDoubt: false };
  // The first attempts may meet a connection of the dead primary.
  await until('the standby answers', () => write(store, 'never').catch((error) => isStandby(error)));
  await expect(
    store.transaction(async (tx) => void tx.send(insertSetting, { key: 'x', value: '1' })),
  ).rejects.toMatchObject(away);
  await expect(store.db.selectFrom('settings').select('key').execute()).rejects.toMatchObject(away);
  await expect(store.ping()).rejects.toMatchObject(away);
  const opening = openPostgresStore({ url }).catch((error: unknown) => {
    throw toOpenError(error, url);
  });
  if (!IS_POOLED)
    await expect(opening).rejects.toThrow(/is a standby, which only reads\. Promote it, or set DATABASE_URL/);
  else await expect(opening).rejects.toThrow();
}

function isStandby({ cause }: { readonly cause?: { readonly code?: unknown } }): boolean {
  return cause?.code === 'standby' || cause?.code === '0A000';
}
