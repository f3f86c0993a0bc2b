import { setTimeout as sleep } from 'node:timers/promises';
import { bearsAnotherLoss } from '../processes/run-progress.ts';
import type { Site } from '../processes/site.ts';
import { until } from '../processes/until.ts';
import type { Fleet } from './fleet.ts';
import type { Random } from './random.ts';

export type Fault = 'kill' | 'freeze' | 'terminate' | 'restart-database' | 'failover';

/** The store is embedded, with one gateway; or on this server, with two. */
export type ChaosDatabase =
  | { readonly kind: 'sqlite' }
  | {
      readonly kind: 'postgres';
      readonly url: string;
      /** The server's own address, if `url` leads to a pooler. */
      readonly directUrl?: string;
      restart?(): Promise<void>;
      /** Kills the primary, and its standby takes over. Works once. */
      failover?(): Promise<void>;
    };

/** A gateway that is starved for longer than this loses its runs, as if it were frozen. */
export const LEASE_MS = 1_000;
/** Counted from the moment that a gateway is running. */
const TAKEOVER_MS = 15_000;

interface StormParts {
  readonly database: ChaosDatabase;
  readonly leaseMs: number;
  readonly site: Site;
  readonly fleet: Fleet;
  readonly random: Random;
  readonly log: (line: string) => void;
}

interface Hand {
  readonly runId: string;
  readonly epoch: number;
}

/** Causes the faults of the gateways. */
export class Storm {
  readonly problems: string[] = [];
  readonly faults: Record<Fault, number> = { kill: 0, freeze: 0, terminate: 0, 'restart-database': 0, failover: 0 };
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
    // A connection of the test may have died with the server.
    await until('no run fails of one more loss', () => bearsAnotherLoss(site).catch(() => false));
    const hand = await this.#inHand(victim);
    const startedAt = Date.now();
    log(`${fault} ${victim}, with ${hand.length} runs in hand`);
    this.faults[fault]++;
    await this.#perform(fault, victim, hand);
    // A gateway that survived continues by itself. Sometimes the next fault comes before the gateway has restarted.
    const isGone = fault === 'kill' || fault === 'terminate';
    if (!isGone || random.isLucky(0.4)) return;
    await until('somebody is there to take over', () => fleet.names.length > 0);
    await this.#takenOver(hand, startedAt);
  }

  async #perform(fault: Fault, victim: string, hand: readonly Hand[]): Promise<void> {
    const { fleet, database, leaseMs } = this.#parts;
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
          await sleep(leaseMs * 1.3);
          // A single gateway finds its runs unchanged.
          if (fleet.names.length > 0) await this.#takenOver(hand, startedAt);
        });
        return;
      case 'restart-database':
        if (database.kind === 'postgres') await database.restart?.();
        return;
      case 'failover':
        if (database.kind === 'postgres') await database.failover?.();
        return;
    }
  }

  /** The runs that the victim was executing. */
  async #inHand(name: string): Promise<Hand[]> {
    const { site, fleet } = this.#parts;
    const runs = site.db
      .selectFrom('runs')
      .innerJoin('threads', 'threads.id', 'runs.thread_id')
      .select(['runs.id as runId', 'runs.epoch'])
      .where('runs.status', '=', 'running')
      .where('threads.lease_owner', 'like', `%:${fleet.pidOf(name)}:%`);
    // A connection of the test may have died with the server.
    return await until('the database answers', () => runs.execute().catch(() => undefined));
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
      .executeTakeFirst()
      .catch(() => undefined);
    return run !== undefined && (run.status !== 'running' || run.epoch !== epoch);
  }
}

/** Waits until the gateway is busy, so that it is killed at work; if it gets no work, it is killed idle. */
async function untilBusy(isBusy: () => boolean): Promise<void> {
  for (let waited = 0; waited < 3_000 && !isBusy(); waited += 10) await sleep(10);
}
