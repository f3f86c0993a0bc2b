import { setTimeout as sleep } from 'node:timers/promises';
import { request } from '../processes/api.ts';
import { CHORUS, problemsOfChorus, speak } from '../processes/chorus.ts';
import { VOICES } from '../processes/chorus-config.ts';
import { findPlace, openSite, type Place } from '../processes/site.ts';
import { isIdle, problemsOf } from '../processes/soundness.ts';
import { until } from '../processes/until.ts';
import type { ChaosOptions, ChaosReport } from './chaos.ts';
import { Fleet } from './fleet.ts';
import { Random } from './random.ts';
import { LEASE_MS, Storm } from './storm.ts';
import { StreamFollower } from './stream-follower.ts';

/**
 * Ten agents send twenty messages per request. They know only what their requests show of the current run, while their gateways are
 * killed and stopped: an agent that does not see a message that it sent sends it twice. The next request comes when all have answered.
 */
export async function runChorus({
  seed,
  database,
  gateways,
  faults,
  leaseMs = LEASE_MS,
  log = () => {},
}: ChaosOptions): Promise<ChaosReport> {
  const random = new Random(seed);
  await using site = await openSite({
    decide: (asked) => ({ ...speak(asked), paceMs: random.between(0, 4) }),
    config: CHORUS,
    keepsRequests: false,
    leaseMs,
    databaseUrl: database.kind === 'postgres' ? database.url : undefined,
    directUrl: database.kind === 'postgres' ? database.directUrl : undefined,
  });
  await using fleet = new Fleet(site);
  await fleet.open(gateways);
  const place = await findPlace(fleet.urls[0] ?? '');
  const followers = Object.values(place.spaces).map((id) => new StreamFollower(fleet, id));
  const storm = new Storm({ site, fleet, random, database, leaseMs, log });
  const refs: string[] = [];
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      refs.push(`m${refs.length + 1}`);
      await askEverybody(fleet, place, refs.at(-1) ?? '');
      // Waits without a limit while there are faults, because gateways that are killed every few seconds are slow. If a run fails, the others go on.
      while (!isOver && !(await isIdle(site).catch(() => false))) await sleep(100);
    }
  })();
  for (const fault of faults) await storm.inflict(fault);
  isOver = true;
  await fleet.whole();
  await asking;
  const unrest: string[] = [];
  try {
    await until('everything is at rest', () => isIdle(site), { patienceMs: 120_000 });
  } catch (error) {
    unrest.push(String(error));
  }
  for (const follower of followers) await follower.close();
  await fleet.close();
  return {
    problems: [
      ...unrest,
      ...storm.problems,
      ...fleet.problems,
      ...followers.flatMap((follower) => follower.problems),
      ...(await problemsOfChorus(site, refs)),
      ...(await problemsOf(site)),
    ],
    faults: storm.faults,
    messages: refs.length * VOICES.length,
    // Events are not redriven here: the agents know only the current run, so another run would send everything again.
    redriven: 0,
    longestTakeoverMs: storm.longestTakeoverMs,
  };
}

/** The message counts once, however often it has to be sent. */
async function askEverybody(fleet: Fleet, { spaces, entities }: Place, ref: string): Promise<void> {
  for (const voice of VOICES) {
    const path = `/api/spaces/${spaces[voice]}/messages`;
    const body = { entityId: entities.Ada, text: ref, clientMessageId: `${voice}-${ref}` };
    for (let tries = 0; ; tries++) {
      const url = fleet.urls[tries % Math.max(1, fleet.urls.length)];
      const answer =
        url === undefined ? undefined : await request(url, path, { body, timeoutMs: 4_000 }).catch(() => undefined);
      if (answer !== undefined && answer.status < 300) break;
      await sleep(30);
    }
  }
}
