import { answerText } from '../processes/answering.ts';
import { findPlace, openSite, type Site } from '../processes/site.ts';
import { isIdle, problemsOf } from '../processes/soundness.ts';
import { until } from '../processes/until.ts';
import { chaosModel } from './chaos-model.ts';
import { Crowd } from './crowd.ts';
import { Driver } from './driver.ts';
import { Fleet } from './fleet.ts';
import { Random } from './random.ts';
import { redriveLost } from './redrive-lost.ts';
import { type ChaosDatabase, type Fault, LEASE_MS, Storm } from './storm.ts';
import { StreamFollower } from './stream-follower.ts';

export interface ChaosOptions {
  readonly seed: number;
  readonly database: ChaosDatabase;
  /** Names of the gateways: one on SQLite, two or more on PostgreSQL. */
  readonly gateways: readonly string[];
  /** The faults, in this order. An iterable can also produce random ones for as long as it likes. */
  readonly faults: Iterable<Fault>;
  /** Default: short, for a machine without other load. */
  readonly leaseMs?: number;
  readonly log?: (line: string) => void;
}

export interface ChaosReport {
  /** Empty if all checks passed. */
  readonly problems: readonly string[];
  readonly faults: Readonly<Record<Fault, number>>;
  readonly messages: number;
  /** Events whose run was taken over too often, and which were redriven. */
  readonly redriven: number;
  /** The longest time until another worker took over interrupted work. */
  readonly longestTakeoverMs: number;
}

/** Runs real gateways while they are killed, stopped and cut off, and then checks everything. */
export async function runChaos({
  seed,
  database,
  gateways,
  faults,
  leaseMs = LEASE_MS,
  log = () => {},
}: ChaosOptions): Promise<ChaosReport> {
  const random = new Random(seed);
  await using site = await openSite({
    ...chaosModel(new Random(seed + 1)),
    keepsRequests: false,
    leaseMs,
    databaseUrl: database.kind === 'postgres' ? database.url : undefined,
    directUrl: database.kind === 'postgres' ? database.directUrl : undefined,
  });
  await using fleet = new Fleet(site);
  await fleet.open(gateways);
  const driver = new Driver(fleet, new Random(seed + 2));
  await driver.open();
  const { spaces } = await findPlace(fleet.urls[0] ?? '');
  const followers = Object.values(spaces).map((id) => new StreamFollower(fleet, id));
  const storm = new Storm({ site, fleet, random, database, leaseMs, log });
  const crowd = new Crowd(driver);
  for (const fault of faults) await storm.inflict(fault);
  await crowd.close();
  await fleet.whole();
  const { problems, redriven } = await calm({ site, fleet, driver, followers, log });
  await driver.close();
  for (const follower of followers) await follower.close();
  await fleet.close();
  const inflicted = Object.values(storm.faults).reduce((sum, count) => sum + count, 0);
  const isTooOften = redriven > inflicted / FAULTS_FOR_A_REDRIVE;
  return {
    problems: [
      ...problems,
      ...(isTooOften ? [`${redriven} events were dead because their runs were taken over too often.`] : []),
      ...storm.problems,
      ...fleet.problems,
      ...driver.problems,
      ...followers.flatMap((follower) => follower.problems),
      ...(await problemsOf(site)),
    ],
    faults: storm.faults,
    messages: driver.posted.length,
    redriven,
    longestTakeoverMs: storm.longestTakeoverMs,
  };
}

/** On a busy machine one redriven event per this many faults is allowed. `npm test` has fewer faults, so it allows none. */
const FAULTS_FOR_A_REDRIVE = 50;

/** There are no more faults: waits until all requested work has ended. */
async function calm({
  site,
  fleet,
  driver,
  followers,
  log,
}: {
  site: Site;
  fleet: Fleet;
  driver: Driver;
  followers: StreamFollower[];
  log: (line: string) => void;
}): Promise<{ problems: string[]; redriven: number }> {
  let redriven = 0;
  try {
    await until('everything is at rest', () => isAtRest(site), { patienceMs: 60_000 });
    redriven = (await redriveLost(site, fleet, log)).length;
    await until('everything is at rest again', () => isAtRest(site), { patienceMs: 60_000 });
    const { events } = await site.db
      .selectFrom('streams')
      .select((eb) => eb.fn.sum<number>('next_seq').as('events'))
      .where('id', 'like', 'space:%')
      .executeTakeFirstOrThrow();
    const heard = (): number => followers.reduce((sum, { seq }) => sum + seq + 1, 0);
    await until('everything is heard', () => heard() === Number(events));
  } catch (error) {
    return { problems: [String(error), ...(await problemsOfAnswers(driver))], redriven };
  }
  return { problems: await problemsOfAnswers(driver), redriven };
}

async function isAtRest(site: Site): Promise<boolean> {
  const pending = await site.db.selectFrom('calls').select('id').where('wait_status', '=', 'pending').execute();
  return pending.length === 0 && (await isIdle(site));
}

/** Each message must be in its space once and have exactly one answer. */
async function problemsOfAnswers(driver: Driver): Promise<string[]> {
  const texts = await driver.texts();
  return driver.posted.flatMap((ref) => {
    const asked = texts.filter((text) => text.endsWith(` ${ref}`)).length;
    const answers = texts.filter((text) => text === answerText(ref)).length;
    return asked === 1 && answers === 1 ? [] : [`${ref} was asked ${asked} times, and answered ${answers} times.`];
  });
}
