import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { askAll, CHORUS, isAllSaid, problemsOfChorus, speak } from './chorus.ts';
import { openCrew } from './crew.ts';
import { bearsAnotherLoss } from './run-progress.ts';
import { LEASE_MS, stallWhileWriting } from './stalled-writer.ts';
import { until } from './until.ts';
import { waitingFor } from './waiting-connection.ts';

describe('a takeover on PostgreSQL while the stalled worker is still writing', () => {
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
});

describe('gateways on PostgreSQL that stall repeatedly', () => {
  test('[G38] [G40] ten agents that each send twenty messages per event send each of them once', {
    timeout: 600_000,
  }, async () => {
    const refs = ['m1', 'm2'];
    await using crew = await openCrew({ kind: 'postgres', leaseMs: LEASE_MS, config: CHORUS, decide: speak });
    await askAll(crew.first.url, 'm1');
    for (const [index, name] of ['a', 'b', 'a', 'b'].entries()) {
      const stalled = crew.named(name);
      stalled.send('SIGSTOP');
      await sleep(1_400 + 100 * index);
      stalled.send('SIGCONT');
      if (index === 2) await askAll(stalled.url, 'm2');
      await sleep(300);
      await until('no run fails of one more stall', () => bearsAnotherLoss(crew.site));
    }
    await until('all is said', () => isAllSaid(crew.site, refs), { patienceMs: 300_000 });
    expect(await crew.problems()).toEqual([]);
    expect(await problemsOfChorus(crew.site, refs)).toEqual([]);
  });
});
