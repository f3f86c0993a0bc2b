import { describe, expect, test } from 'vitest';
import { doDuties } from './answering.ts';
import { type Crew, openCrew } from './crew.ts';
import { say } from './site.ts';
import { LEASE_MS, stallWhileWriting } from './stalled-writer.ts';
import { until } from './until.ts';
import { waitingFor } from './waiting-connection.ts';

/** How long an unfinished transaction of a stalled gateway may delay a takeover. */
const HELD_UP_MS = 3_000;
/** From the end of a lease to the claim: a sweep, on a machine that is busy with other tests. */
const SLACK_MS = 6_000;

describe('a gateway on postgres stalls past its lease', () => {
  test('[G40] when a gateway stalls, another takes over; the first writes nothing when it continues, and still works', async () => {
    const asked = Promise.withResolvers<string>();
    const late = Promise.withResolvers<void>();
    let hasStalled = false;
    await using crew = await openCrew({
      kind: 'postgres',
      leaseMs: LEASE_MS,
      async decide(request) {
        const isUrgent = request.agent === 'Anna' && !hasStalled;
        if (!isUrgent) return doDuties(request);
        hasStalled = true;
        asked.resolve(request.gateway);
        await late.promise;
        return doDuties(request);
      },
    });
    await say(crew.first.url, 'North', 'Anna: charge m1');
    const staller = crew.named(await asked.promise);
    staller.send('SIGSTOP');
    await crew.answered('m1');
    // Its reply has arrived meanwhile, so it tries to act on it as soon as it continues.
    late.resolve();
    await until('the late reply is sent', () => crew.site.model.openOf(staller.name) === 0);
    staller.send('SIGCONT');
    const other = crew.site.gateways.find(({ name }) => name !== staller.name);
    await other?.kill();
    await say(staller.url, 'North', 'Anna: charge m2');
    await crew.answered('m2');
    expect(await crew.problems()).toEqual([]);
    expect((await crew.site.effects()).map(({ ref }) => ref)).toEqual(['m1', 'm2']);
    const messages = await crew.site.db.selectFrom('messages').select('content').where('kind', '=', 'text').execute();
    expect(messages.filter(({ content }) => content.startsWith('"Answer'))).toHaveLength(2);
  });

  test('[G38] [G40] a takeover while the stalled worker is still writing continues from the last commit of the stalled worker, and sends nothing twice', async () => {
    await using stalled = await stallWhileWriting();
    const { crew, blocker, staller } = stalled;
    // The other gateway finds the lease expired, and its claim waits for that transaction.
    await until('the claim waits', async () => (await waitingFor(blocker, 'update "threads"')) !== staller.name);
    staller.send('SIGCONT');
    await blocker.query('rollback');
    await blocker.end();
    await crew.answered('m1');
    expect(await crew.problems()).toEqual([]);
    const failed = await crew.site.db.selectFrom('runs').select('stop').where('status', '!=', 'completed').execute();
    expect(failed).toEqual([]);
    const texts = await crew.site.db.selectFrom('messages').select('content').where('kind', '=', 'text').execute();
    expect(texts.map(({ content }) => content)).toEqual(['"Anna: answer m1"', '"Answer to m1."']);
  });

  test('[G40] a gateway that stalls inside a transaction delays the takeover by at most 3 s', async () => {
    await using stalled = await stallWhileWriting();
    const { crew, blocker, staller } = stalled;
    const before = await epochOf(crew);
    // It gets the lock that it waited for, holds its thread's row, and does not continue.
    await blocker.query('rollback');
    await blocker.end();
    const patienceMs = LEASE_MS + HELD_UP_MS + SLACK_MS;
    await until('another takes over', async () => (await epochOf(crew)) > before, { patienceMs });
    await crew.answered('m1');
    staller.send('SIGCONT');
    expect(await crew.problems()).toEqual([]);
    const answers = await crew.site.db.selectFrom('messages').select('id').where('kind', '=', 'text').execute();
    expect(answers).toHaveLength(2);
  });
});

async function epochOf({ site }: Crew): Promise<number> {
  const { epoch } = await site.db
    .selectFrom('threads')
    .innerJoin('agents', 'agents.id', 'threads.id')
    .select('epoch')
    .where('agents.name', '=', 'Anna')
    .executeTakeFirstOrThrow();
  return epoch;
}
