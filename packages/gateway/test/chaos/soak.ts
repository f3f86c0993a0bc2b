import { inspect } from 'node:util';
import { numberOption, readArguments, refuse } from '../support/command-options.ts';
import { startPooler, throughPooler } from '../support/pooler.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { failOver, startReplicated } from '../support/replicated-postgres.ts';
import { type ChaosOptions, type ChaosReport, runChaos } from './chaos.ts';
import { runChorus } from './chorus-storm.ts';
import { Random } from './random.ts';
import { type ChaosDatabase, type Fault, LEASE_MS } from './storm.ts';

/**
 * `npm run soak`: gateways in real processes are killed, frozen, stopped and cut off from their database at random, for as long
 * as one likes: two and three of them on PostgreSQL, behind a pooler and with a failover too, one on SQLite. It counts messages, effects and stream events: each exactly once.
 * On a machine with other load, use leases of several seconds (`--lease 4000`): a starved gateway loses its runs like a frozen one.
 */
const HELP = `Kills, freezes and stops gateways at random while agents work, and counts what happened. See docs/guarantees.md.
  --minutes N    how long, for all phases together (10)
  --phases NAME  only the phases whose name contains this
  --lease N      leases, in milliseconds; several seconds on a machine with other work (${LEASE_MS})
  --seed N       decides which faults happen`;

const { values } = readArguments(HELP, {
  options: {
    minutes: { type: 'string', default: '10' },
    lease: { type: 'string', default: String(LEASE_MS) },
    phases: { type: 'string', default: '' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const seed = numberOption('seed', values.seed, 0);
const leaseMs = numberOption('lease', values.lease, 100);

interface Phase {
  readonly name: string;
  readonly run: (options: ChaosOptions) => Promise<ChaosReport>;
  readonly kind: ChaosDatabase['kind'];
  readonly gateways: readonly string[];
  /** Faults that only this phase has. */
  readonly more?: readonly Fault[];
  /** How PostgreSQL is set up. Default: one server. */
  readonly open?: () => Promise<OpenedDatabase>;
}

interface OpenedDatabase {
  readonly database: ChaosDatabase;
  close(): Promise<void>;
}

const phases: readonly Phase[] = [
  { name: 'Two gateways on PostgreSQL', run: runChaos, kind: 'postgres', gateways: ['a', 'b'] },
  { name: 'Three gateways on PostgreSQL', run: runChaos, kind: 'postgres', gateways: ['a', 'b', 'c'] },
  { name: 'Ten talkers, two gateways on PostgreSQL', run: runChorus, kind: 'postgres', gateways: ['a', 'b'] },
  { name: 'Ten talkers, three gateways on PostgreSQL', run: runChorus, kind: 'postgres', gateways: ['a', 'b', 'c'] },
  {
    name: 'Two gateways behind a pooler in transaction mode',
    run: runChaos,
    kind: 'postgres',
    gateways: ['a', 'b'],
    open: openPooled,
  },
  {
    name: 'Two gateways, and a failover to a synchronous standby',
    run: runChaos,
    kind: 'postgres',
    gateways: ['a', 'b'],
    open: openReplicated,
    more: ['failover'],
  },
  { name: 'One gateway on SQLite', run: runChaos, kind: 'sqlite', gateways: ['a'] },
  { name: 'Ten talkers, one gateway on SQLite', run: runChorus, kind: 'sqlite', gateways: ['a'] },
];
/** `--phases pooler` runs those whose name contains it. */
const chosen = phases.filter(({ name }) => name.toLowerCase().includes(values.phases.toLowerCase()));
if (chosen.length === 0)
  refuse(
    `--phases ${values.phases}: no phase has a name like that. There are: ${phases.map(({ name }) => name).join('; ')}.`,
  );
const phaseMs = (numberOption('minutes', values.minutes, 0.01) * 60_000) / chosen.length;

let problems = 0;
for (const phase of chosen) {
  // A phase that fails must not stop the phases after it.
  problems += await perform(phase).catch((error: unknown) => {
    print(`${phase.name}, seed ${seed}, broke off: ${inspect(error)}`);
    return 1;
  });
}
// Not exitCode: the exit hook of the database server would reset it.
process.exit(problems === 0 ? 0 : 1);

async function perform({ name, run, kind, gateways, more = [], open }: Phase): Promise<number> {
  const { database, close } = await (open ?? (kind === 'postgres' ? openServer : openEmbedded))();
  const hasRestart = database.kind === 'postgres' && database.restart !== undefined;
  const random = faultsFor(phaseMs, hasRestart ? ['restart-database'] : []);
  const report = await run({
    seed,
    database,
    gateways,
    faults: inTheMiddle(more, random),
    leaseMs,
    log: print,
  }).finally(close);
  tell(name, report);
  return report.problems.length;
}

async function openEmbedded(): Promise<OpenedDatabase> {
  return { database: { kind: 'sqlite' }, async close() {} };
}

async function openServer(): Promise<OpenedDatabase> {
  const server = await startPostgres();
  const url = await server.createDatabase();
  return { database: { kind: 'postgres', url, restart: () => server.restart() }, close: () => server.stop() };
}

async function openPooled(): Promise<OpenedDatabase> {
  const server = await startPostgres();
  const directUrl = await server.createDatabase();
  const pooler = await startPooler(directUrl, { connections: 8 });
  const url = throughPooler(directUrl, pooler);
  return {
    database: { kind: 'postgres', url, directUrl, restart: () => server.restart() },
    async close() {
      await pooler[Symbol.asyncDispose]();
      await server.stop();
    },
  };
}

async function openReplicated(): Promise<OpenedDatabase> {
  const replicated = await startReplicated({ isSynchronous: true });
  return {
    database: { kind: 'postgres', url: replicated.url, failover: () => failOver(replicated) },
    close: async () => await replicated[Symbol.asyncDispose](),
  };
}

/** Two random faults, these, and the other random ones. */
function* inTheMiddle(faults: readonly Fault[], random: Generator<Fault>): Generator<Fault> {
  for (let count = 0; count < 2; count++) {
    const { value, done } = random.next();
    if (done !== true) yield value;
  }
  yield* faults;
  yield* random;
}

function* faultsFor(durationMs: number, more: readonly Fault[]): Generator<Fault> {
  const random = new Random(seed);
  const end = Date.now() + durationMs;
  const usual: readonly Fault[] = ['kill', 'kill', 'freeze', 'freeze', 'freeze', 'terminate'];
  while (Date.now() < end) yield random.oneOf(['kill', ...usual, ...more]);
}

function tell(name: string, { problems, faults, messages, redriven, longestTakeoverMs }: ChaosReport): void {
  print(`${name}, seed ${seed}: ${messages} messages, ${redriven} redriven, ${JSON.stringify(faults)}.`);
  print(`The longest that work in hand waited: ${longestTakeoverMs} ms. Problems: ${problems.length}.`);
  for (const problem of problems) print(`- ${problem}`);
}

function print(line: string): void {
  process.stdout.write(`${new Date().toISOString()} ${line}\n`);
}
