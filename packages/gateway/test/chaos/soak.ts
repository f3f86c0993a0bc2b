import { parseArgs } from 'node:util';
import { startPostgres } from '../support/postgres-server.ts';
import { type ChaosReport, runChaos } from './chaos.ts';
import { Random } from './random.ts';
import type { Fault } from './storm.ts';

/** `npm run soak`: the chaos of the tests for as long as one likes, first on PostgreSQL, then on SQLite. */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const seed = Number(values.seed);
const half = (Number(values.minutes) * 60_000) / 2;

const server = await startPostgres();
const database = { kind: 'postgres', url: await server.createDatabase(), restart: () => server.restart() } as const;
const onPostgres = await runChaos({ seed, database, faults: faultsFor(half, ['restart-database']), log: print });
await server.stop();
tell('Two gateways on PostgreSQL', onPostgres);
const onSqlite = await runChaos({ seed, database: { kind: 'sqlite' }, faults: faultsFor(half), log: print });
tell('One gateway on SQLite', onSqlite);
process.exitCode = onPostgres.problems.length + onSqlite.problems.length === 0 ? 0 : 1;

function* faultsFor(durationMs: number, more: readonly Fault[] = []): Generator<Fault> {
  const random = new Random(seed);
  const end = Date.now() + durationMs;
  const usual: readonly Fault[] = ['kill', 'kill', 'kill', 'kill', 'kill', 'freeze', 'terminate'];
  while (Date.now() < end) yield random.oneOf(['kill', ...usual, ...more]);
}

function tell(name: string, { problems, faults, messages, longestTakeoverMs }: ChaosReport): void {
  print(`${name}, seed ${seed}: ${messages} messages, ${JSON.stringify(faults)}.`);
  print(`The longest that work in hand waited: ${longestTakeoverMs} ms. Problems: ${problems.length}.`);
  for (const problem of problems) print(`- ${problem}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
