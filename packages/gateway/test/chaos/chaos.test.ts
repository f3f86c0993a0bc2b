import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { type Fault, runChaos } from './chaos.ts';
import { Random } from './random.ts';

/** Another one each day, the same all day: what it finds can be looked at. `SEED` takes up an old one. */
const seed = Number(process.env.SEED ?? Math.floor(Date.now() / 86_400_000));

describe(`chaos, seed ${seed}`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  test('[G25] [G37] [G38] [G39] [G40] [G41] [G42] [G43] [G48] [G56] two gateways on PostgreSQL', {
    timeout: 300_000,
  }, async () => {
    const faults = plan({ kill: 30, freeze: 4, terminate: 3, 'restart-database': 2 });
    const database = { kind: 'postgres', url: await server.createDatabase(), restart: () => server.restart() } as const;
    const report = await runChaos({ seed, database, faults });
    expect(report.problems, JSON.stringify(report)).toEqual([]);
  });

  test('[G25] [G37] [G38] [G39] [G41] [G42] [G48] one gateway on SQLite', { timeout: 300_000 }, async () => {
    const faults = plan({ kill: 10, freeze: 1, terminate: 2 });
    const report = await runChaos({ seed, database: { kind: 'sqlite' }, faults });
    expect(report.problems, JSON.stringify(report)).toEqual([]);
  });
});

function plan(counts: Partial<Record<Fault, number>>): Fault[] {
  const faults = Object.entries(counts).flatMap(([fault, count]) => Array<Fault>(count).fill(fault as Fault));
  return new Random(seed).shuffle(faults);
}
