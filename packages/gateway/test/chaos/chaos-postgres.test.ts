import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { runChaos } from './chaos.ts';
import { seed, shuffled } from './seed.ts';

// A separate server, because other tests would not survive its restarts.
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

test('[G25] [G37] [G38] [G39] [G40] [G41] [G42] [G43] [G48] [G56] two gateways on PostgreSQL survive kills, stops, freezes and database restarts', {
  timeout: 600_000,
}, async () => {
  const faults = shuffled({ kill: 4, freeze: 1, terminate: 1, 'restart-database': 1 });
  const database = { kind: 'postgres', url: await server.createDatabase(), restart: () => server.restart() } as const;
  const report = await runChaos({ seed, database, gateways: ['a', 'b'], faults });
  expect(report.problems, `SEED=${seed} ${JSON.stringify(report)}`).toEqual([]);
  expect(report.messages).toBeGreaterThan(0);
});
