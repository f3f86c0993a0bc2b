import { setTimeout as sleep } from 'node:timers/promises';
import { answerText } from '../processes/answering.ts';
import { findPlace, openSite, type Site } from '../processes/site.ts';
import { isIdle, problemsOf } from '../processes/soundness.ts';
import { until } from '../processes/until.ts';
import { chaosModel } from './chaos-model.ts';
import { Driver } from './driver.ts';
import { Fleet } from './fleet.ts';
import { Random } from './random.ts';
import { StreamFollower } from './stream-follower.ts';

export interface ChaosOptions {
  readonly seed: number;
  /** The store is embedded, with one gateway; or on this server, with two. */
  readonly database: { readonly kind: 'sqlite' } | { readonly kind: 'postgres'; url: string; restart(): Promise<void> };
  /** What happens, in this order; or, as long as it says so, by chance. */
  readonly faults: Iterable<Fault>;
  readonly log?: (line: string) => void;
}

export type Fault = 'kill' | 'freeze' | 'terminate' | 'restart-database';

export interface ChaosReport {
  /** Empty where everything held. */
  readonly problems: readonly string[];
  readonly faults: Readonly<Record<Fault, number>>;
  readonly messages: number;
  /** The longest that work in hand waited for somebody to take it over. */
  readonly longestTakeoverMs: number;
}

const LEASE_MS = 1_000;
const TAKEOVER_MS = 15_000;
/** Messages under way at once. */
const CROWD = 6;

/** Real gateways at work while they are killed, stopped and cut off; then everything is looked at. */
export async function runChaos({ seed, database, faults, log = () => {} }: ChaosOptions): Promise<ChaosReport> {
  const random = new Random(seed);
  await using site = await openSite({
    ...chaosModel(new Random(seed + 1)),
    leaseMs: LEASE_MS,
    databaseUrl: database.kind === 'postgres' ? database.url : undefined,
  });
  const fleet = new Fleet(site);
  await fleet.open(database.kind === 'postgres' ? ['a', 'b'] : ['a']);
  const driver = new Driver(fleet, new Random(seed + 2));
  await driver.open();
  const { spaces } = await findPlace(fleet.urls[0] ?? '');
  const followers = Object.values(spaces).map((id) => new StreamFollower(fleet, id));
  const storm = new Storm({ site, fleet, random, database, log });
  const crowd = new Crowd(driver);
  for (const fault of faults) await storm.inflict(fault);
  await crowd.close();
  await fleet.whole();
  const problems = await calm({ site, driver, followers });
  await driver.close();
  for (const follower of followers) await follower.close();
  await fleet.close();
  return {
    problems: [
      ...problems,
      ...storm.problems,
      ...fleet.problems,
      ...driver.problems,
      ...followers.flatMap((follower) => follower.problems),
      ...(await problemsOf(site)),
    ],
    faults: storm.faults,
    messages: driver.posted.length,
    longestTakeoverMs: storm.longestTakeoverMs,
  };
}

/** Nothing hits any more: all that was asked for comes to its end. */
async function calm({
  site,
  driver,
  followers,
}: {
  site: Site;
  driver: Driver;
  followers: StreamFollower[];
}): Promise<string[]> {
  try {
    await until('everything is at rest', () => isAtRest(site), { patienceMs: 60_000 });
    const { events } = await site.db
      .selectFrom('channels')
      .select((eb) => eb.fn.sum<number>('next_seq').as('events'))
      .where('id', 'like', 'space:%')
      .executeTakeFirstOrThrow();
    const heard = (): number => followers.reduce((sum, { seq }) => sum + seq + 1, 0);
    await until('everything is heard', () => heard() === Number(events));
  } catch (error) {
    return [String(error), ...(await problemsOfAnswers(driver))];
  }
  return await problemsOfAnswers(driver);
}

async function isAtRest(site: Site): Promise<boolean> {
  const pending = await site.db.selectFrom('pending_calls').select('call_id').where('status', '=', 'pending').execute();
  return pending.length === 0 && (await isIdle(site));
}

/** Nobody waits in vain, and nobody is told twice. */
async function problemsOfAnswers(driver: Driver): Promise<string[]> {
  const texts = await driver.texts();
  return driver.posted.flatMap((ref) => {
    const asked = texts.filter((text) => text.endsWith(` ${ref}`)).length;
    const answers = texts.filter((text) => text === answerText(ref)).length;
    return asked === 1 && answers === 1 ? [] : [`${ref} was asked ${asked} times, and answered ${answers} times.`];
  });
}

/** Keeps so many messages under way. */
class Crowd {
  readonly #driver: Driver;
  #isOpen = true;
  readonly #posting: Promise<unknown>;

  constructor(driver: Driver) {
    this.#driver = driver;
    this.#posting = this.#post();
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#posting;
  }

  async #post(): Promise<void> {
    while (this.#isOpen) {
      const texts = new Set(await this.#driver.texts());
      const open = this.#driver.posted.filter((ref) => !texts.has(answerText(ref))).length;
      await Promise.all(Array.from({ length: CROWD - open }, () => this.#driver.post()));
      await sleep(100);
    }
  }
}

interface StormParts extends Pick<ChaosOptions, 'database'> {
  readonly site: Site;
  readonly fleet: Fleet;
  readonly random: Random;
  readonly log: (line: string) => void;
}

interface Hand {
  readonly runId: string;
  readonly epoch: number;
}

/** What happens to the gateways. */
class Storm {
  readonly problems: string[] = [];
  readonly faults: Record<Fault, number> = { kill: 0, freeze: 0, terminate: 0, 'restart-database': 0 };
  longestTakeoverMs = 0;
  readonly #parts: StormParts;

  constructor(parts: StormParts) {
    this.#parts = parts;
  }

  async inflict(fault: Fault): Promise<void> {
    const { fleet, random, site, log } = this.#parts;
    const [first, ...others] = await until('somebody runs', () => (fleet.names.length > 0 ? fleet.names : undefined));
    const victim = random.oneOf([first ?? '', ...others]);
    await untilBusy(() => site.model.openOf(victim) > 0);
    await sleep(random.between(0, 100));
    const hand = await this.#inHand(victim);
    const startedAt = Date.now();
    log(`${fault} ${victim}, with ${hand.length} runs in hand`);
    this.faults[fault]++;
    await this.#perform(fault, victim, hand);
    // Now and then the next one comes before anybody has got up.
    if (fault === 'kill' && random.isLucky(0.3)) return;
    await this.#takenOver(hand, startedAt);
  }

  async #perform(fault: Fault, victim: string, hand: readonly Hand[]): Promise<void> {
    const { fleet, database } = this.#parts;
    const startedAt = Date.now();
    switch (fault) {
      case 'kill':
        await fleet.kill(victim);
        return;
      case 'terminate':
        await fleet.terminate(victim);
        return;
      case 'freeze':
        await fleet.freeze(victim, async () => {
          await sleep(LEASE_MS * 1.3);
          // By itself it finds everything as it was.
          if (fleet.names.length > 0) await this.#takenOver(hand, startedAt);
        });
        return;
      case 'restart-database':
        if (database.kind === 'postgres') await database.restart();
        return;
    }
  }

  /** What the victim was doing. */
  async #inHand(name: string): Promise<Hand[]> {
    const { site, fleet } = this.#parts;
    const rows = await site.db
      .selectFrom('runs')
      .innerJoin('threads', 'threads.id', 'runs.thread_id')
      .select(['runs.id as runId', 'runs.epoch'])
      .where('runs.status', '=', 'running')
      .where('threads.lease_owner', 'like', `%:${fleet.pidOf(name)}:%`)
      .execute();
    return rows;
  }

  async #takenOver(hand: readonly Hand[], startedAt: number): Promise<void> {
    for (const { runId, epoch } of hand) {
      try {
        await until(`run ${runId} is taken over`, () => this.#isTakenOver(runId, epoch), { patienceMs: TAKEOVER_MS });
      } catch (error) {
        this.problems.push(String(error));
      }
      this.longestTakeoverMs = Math.max(this.longestTakeoverMs, Date.now() - startedAt);
    }
  }

  async #isTakenOver(runId: string, epoch: number): Promise<boolean> {
    const run = await this.#parts.site.db
      .selectFrom('runs')
      .select(['status', 'epoch'])
      .where('id', '=', runId)
      .executeTakeFirst();
    return run?.status !== 'running' || run.epoch !== epoch;
  }
}

/** Nobody can be killed at work who has none: then at rest. */
async function untilBusy(isBusy: () => boolean): Promise<void> {
  for (let waited = 0; waited < 3_000 && !isBusy(); waited += 10) await sleep(10);
}
