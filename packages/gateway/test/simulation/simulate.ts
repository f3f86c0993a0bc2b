import { check, type Problem } from './checks.ts';
import { contentsOf } from './contents.ts';
import { MemoryDatabase } from './memory-database.ts';
import { fingerprint } from './replace-globals.ts';
import { shrink } from './shrink.ts';
import { toStory } from './story.ts';
import { proveChecks } from './violations.ts';
import { type EndedWorld, runWorld, type WorldOptions } from './world.ts';

export interface SimulateOptions {
  readonly from: number;
  /** Undefined: until the time is over. */
  readonly count: number | undefined;
  readonly minutes: number | undefined;
  /** Prints everything that happens. */
  readonly isLogged: boolean;
  readonly isShrunk: boolean;
  /** Stops at the first seed that fails. */
  readonly isUntilFound: boolean;
  /** Only breaks every promise once, and prints which checks notice. */
  readonly isViolated: boolean;
}

/** Runs the worlds. Returns the exit code: 1 if a promise was broken. */
export async function simulate(options: SimulateOptions): Promise<number> {
  const memory = await MemoryDatabase.open();
  if (options.isViolated) return print(JSON.stringify(await proveChecks(memory)), 0);
  const startedAt = secondsNow();
  const failed: number[] = [];
  let [worlds, faults] = [0, 0];
  const kinds = new Map<string, number>();
  const contents = new Map<string, number>();
  for (const seed of seedsOf(options, startedAt)) {
    const { world, problems } = await runAndCheck(memory, { seed });
    worlds++;
    faults += world.faults.length;
    for (const { kind } of world.faults) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    for (const [name, count] of contentsOf(world.database)) contents.set(name, (contents.get(name) ?? 0) + count);
    if (options.isLogged) print(`${world.log.join('\n')}\nfingerprint ${await fingerprintOf(world)}`);
    if (problems.length === 0) continue;
    failed.push(seed);
    print(await storyOf(memory, { world, problems }, options.isShrunk));
    if (options.isUntilFound) break;
  }
  const seconds = secondsNow() - startedAt;
  const perSecond = (count: number): string => (count / seconds).toFixed(1);
  print(
    `${worlds} worlds (${perSecond(worlds)} a second), ${faults} faults (${perSecond(faults)} a second), ${failed.length} failed.`,
  );
  print(`Faults: ${listed(kinds)}.`);
  print(`Worlds had: ${listed(contents)}.`);
  return print(
    failed.length === 0 ? 'Every promise was kept.' : `Failed seeds: ${failed.join(' ')}`,
    failed.length === 0 ? 0 : 1,
  );
}

function listed(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].sort();
  return sorted.map(([name, count]) => `${name} ${count}`).join(', ');
}

interface CheckedWorld {
  readonly world: EndedWorld;
  readonly problems: readonly Problem[];
}

async function runAndCheck(memory: MemoryDatabase, options: WorldOptions): Promise<CheckedWorld> {
  const world = await runWorld(memory, options);
  return { world, problems: await check({ db: world.database.db, ledger: world.ledger }) };
}

async function storyOf(memory: MemoryDatabase, failed: CheckedWorld, isShrunk: boolean): Promise<string> {
  if (!isShrunk) return `Seed ${failed.world.seed} failed:\n${toLines(failed.problems)}`;
  const { world, problems, tries } = await shrink(failed, (options) => runAndCheck(memory, options));
  return `${toStory(world, problems)}\n(Shrunk from ${failed.world.faults.length} faults and ${failed.world.actions.length} actions in ${tries} tries.)`;
}

function toLines(problems: readonly Problem[]): string {
  return problems.map(({ check: name, text }) => `  ${name}: ${text}`).join('\n');
}

/** Of everything that happened and of all rows that are left. */
async function fingerprintOf({ log, ledger, database }: EndedWorld): Promise<string> {
  const tables = ['messages', 'inbox_events', 'runs', 'calls', 'transcript_entries', 'stream_events', 'threads'];
  const rows = tables.map((table) => database.raw.prepare(`select * from ${table} order by 1, 2`).all());
  return fingerprint(JSON.stringify([log, ledger, rows]));
}

function* seedsOf({ from, count, minutes }: SimulateOptions, startedAt: number): Generator<number> {
  const end = minutes === undefined ? Number.POSITIVE_INFINITY : startedAt + 60 * minutes;
  for (let seed = from; seed < from + (count ?? Number.POSITIVE_INFINITY) && secondsNow() < end; seed++) yield seed;
}

/** The real time: everything else here is virtual. */
function secondsNow(): number {
  return Number(process.hrtime.bigint()) / 1e9;
}

function print(text: string, code = 0): number {
  process.stdout.write(`${text}\n`);
  return code;
}
