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
  /** How far it is from one seed to the next. Other processes run those in between. */
  readonly every: number;
  readonly minutes: number | undefined;
  /** Prints everything that happens. */
  readonly isLogged: boolean;
  readonly isShrunk: boolean;
  /** Stops at the first seed that fails. */
  readonly isUntilFound: boolean;
}

interface FailedWorld {
  readonly seed: number;
  /** The first promise that was broken in it. */
  readonly promise: string;
}

/** What happened in some worlds. */
export interface Tally {
  readonly worlds: number;
  /** Why some worlds were not run. */
  readonly broken: readonly string[];
  readonly failed: readonly FailedWorld[];
  /** How often each kind of fault happened. */
  readonly kinds: Readonly<Record<string, number>>;
  /** How often worlds had what. */
  readonly contents: Readonly<Record<string, number>>;
}

/** Runs the worlds one after the other, and prints the stories of those that fail. */
export async function simulate(options: SimulateOptions): Promise<Tally> {
  const memory = await MemoryDatabase.open();
  let tally = sumOf([]);
  for (const seed of seedsOf(options)) {
    const { world, problems } = await runAndCheck(memory, { seed });
    if (options.isLogged) print(`${world.log.join('\n')}\nfingerprint ${await fingerprintOf(world)}`);
    const [first] = problems;
    if (first !== undefined) print(await storyOf(memory, { world, problems }, options.isShrunk));
    const one = {
      worlds: 1,
      broken: [],
      failed: first === undefined ? [] : [{ seed, promise: first.check }],
      kinds: counted(world.faults.map(({ kind }) => [kind, 1])),
      contents: counted([...contentsOf(world.database)]),
    };
    tally = sumOf([tally, one]);
    if (first !== undefined && options.isUntilFound) break;
  }
  return tally;
}

export function sumOf(tallies: readonly Tally[]): Tally {
  return {
    worlds: tallies.reduce((sum, { worlds }) => sum + worlds, 0),
    broken: tallies.flatMap(({ broken }) => broken),
    failed: tallies.flatMap(({ failed }) => failed).toSorted((one, other) => one.seed - other.seed),
    kinds: counted(tallies.flatMap(({ kinds }) => Object.entries(kinds))),
    contents: counted(tallies.flatMap(({ contents }) => Object.entries(contents))),
  };
}

function counted(entries: readonly (readonly [string, number])[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [name, count] of entries) counts[name] = (counts[name] ?? 0) + count;
  return counts;
}

/** Prints the last lines of a simulation. Returns the exit code: 1 if a promise was broken. */
export function tell({ worlds, broken, failed, kinds, contents }: Tally, seconds: number): number {
  const perSecond = (count: number): string => (count / seconds).toFixed(1);
  const faults = faultsIn(kinds);
  print(
    `${worlds} worlds (${perSecond(worlds)} a second), ${faults} faults (${perSecond(faults)} a second), ${failed.length} failed.`,
  );
  print(`Faults: ${listed(kinds)}.`);
  print(`Worlds had: ${listed(contents)}.`);
  for (const why of broken) print(why);
  if (failed.length > 0) print(`Failed seeds: ${failed.map(({ seed }) => seed).join(' ')}`);
  const isKept = failed.length === 0 && broken.length === 0 && worlds > 0;
  if (isKept) print('Every promise was kept.');
  return isKept ? 0 : 1;
}

/** The same for programs, in one line. */
export function toJsonLine({ worlds, kinds, failed, broken }: Tally): string {
  return JSON.stringify({ worlds, faults: faultsIn(kinds), failed, ...(broken.length === 0 ? {} : { broken }) });
}

function faultsIn(kinds: Tally['kinds']): number {
  return Object.values(kinds).reduce((sum, count) => sum + count, 0);
}

/** Breaks every invariant once, and prints which checks notice. */
export async function violateAll(): Promise<void> {
  print(JSON.stringify(await proveChecks(await MemoryDatabase.open())));
}

function listed(counts: Readonly<Record<string, number>>): string {
  const sorted = Object.entries(counts).sort();
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

/** A hash of all events and of all remaining rows. */
async function fingerprintOf({ log, ledger, database }: EndedWorld): Promise<string> {
  const tables = ['messages', 'inbox_events', 'runs', 'calls', 'transcript_entries', 'stream_events', 'threads'];
  const rows = tables.map((table) => database.raw.prepare(`select * from ${table} order by 1, 2`).all());
  return fingerprint(JSON.stringify([log, ledger, rows]));
}

function* seedsOf({ from, count, every, minutes }: SimulateOptions): Generator<number> {
  const end = minutes === undefined ? Number.POSITIVE_INFINITY : secondsNow() + 60 * minutes;
  const last = from + every * ((count ?? Number.POSITIVE_INFINITY) - 1);
  for (let seed = from; seed <= last && secondsNow() < end; seed += every) yield seed;
}

/** The real time: everything else here is virtual. */
export function secondsNow(): number {
  return Number(process.hrtime.bigint()) / 1e9;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
