import { parseArgs } from 'node:util';
import { startPostgres } from '../support/postgres-server.ts';
import { type ChaosOptions, type ChaosReport, runChaos } from './chaos.ts';
import { runChorus } from './chorus-storm.ts';
import { Random } from './random.ts';
import type { ChaosDatabase, Fault } from './storm.ts';

/**
 * `npm run soak`: gateways of real processes are killed, frozen, told to stop and cut off from their database by chance, for as long
 * as one likes: two and three of them on PostgreSQL, one on SQLite. It counts messages, effects and stream events: each exactly once.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const seed = Number(values.seed);

interface Phase {
  readonly name: string;
  readonly run: (options: ChaosOptions) => Promise<ChaosReport>;
  readonly kind: ChaosDatabase['kind'];
  readonly gateways: readonly string[];
}

const phases: readonly Phase[] = [
  { name: 'Two gateways on PostgreSQL', run: runChaos, kind: 'postgres', gateways: ['a', 'b'] },
  { name: 'Three gateways on PostgreSQL', run: runChaos, kind: 'postgres', gateways: ['a', 'b', 'c'] },
  { name: 'Ten talkers, two gateways on PostgreSQL', run: runChorus, kind: 'postgres', gateways: ['a', 'b'] },
  { name: 'Ten talkers, three gateways on PostgreSQL', run: runChorus, kind: 'postgres', gateways: ['a', 'b', 'c'] },
  { name: 'One gateway on SQLite', run: runChaos, kind: 'sqlite', gateways: ['a'] },
  { name: 'Ten talkers, one gateway on SQLite', run: runChorus, kind: 'sqlite', gateways: ['a'] },
];
const phaseMs = (Number(values.minutes) * 60_000) / phases.length;

let problems = 0;
for (const phase of phases) {
  const found = await perform(phase);
  problems += found;
}
// Not exitCode: the database server's own hook at the end of the process would set it back.
process.exit(problems === 0 ? 0 : 1);

async function perform({ name, run, kind, gateways }: Phase): Promise<number> {
  const server = kind === 'postgres' ? await startPostgres() : undefined;
  const database: ChaosDatabase =
    server === undefined
      ? { kind: 'sqlite' }
      : { kind: 'postgres', url: await server.createDatabase(), restart: () => server.restart() };
  const faults = faultsFor(phaseMs, kind === 'postgres' ? ['restart-database'] : []);
  const report = await run({ seed, database, gateways, faults, log: print });
  await server?.stop();
  tell(name, report);
  return report.problems.length;
}

function* faultsFor(durationMs: number, more: readonly Fault[]): Generator<Fault> {
  const random = new Random(seed);
  const end = Date.now() + durationMs;
  const usual: readonly Fault[] = ['kill', 'kill', 'freeze', 'freeze', 'freeze', 'terminate'];
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
