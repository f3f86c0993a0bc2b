import { describe, expect, test } from 'vitest';
import { doDuties } from './answering.ts';
import { kinds, openCrew } from './crew.ts';
import { say } from './site.ts';

/** Nothing is taken over because a lease ran out: it was let go. */
const LONG_LEASE_MS = 600_000;

describe.each(kinds)('gateways on $kind: one is told to stop', { concurrent: true }, ({ kind }) => {
  test('[G42] what takes longer is left as it is, the process ends with 0, and another goes on at once', async () => {
    const asked = Promise.withResolvers<string>();
    let stopped = false;
    await using crew = await openCrew({
      kind,
      leaseMs: LONG_LEASE_MS,
      env: { TEST_GRACE_MS: '300' },
      async decide(request) {
        // After the first step: what was done in it is not done again.
        if (request.agent !== 'Anna' || request.newCalls.length === 0 || stopped) return doDuties(request);
        asked.resolve(request.gateway);
        return await new Promise<never>(() => {});
      },
    });
    await say(crew.first.url, 'North', 'Anna: charge m1');
    const gateway = crew.named(await asked.promise);
    stopped = true;
    gateway.send('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    if (kind === 'sqlite') await crew.site.start('successor');
    await crew.answered('m1');
    expect(await crew.problems()).toEqual([]);
    expect(await crew.site.effects()).toHaveLength(1);
  });
});

// What one does by itself is the same wherever it writes.
describe('a gateway is told to stop', { concurrent: true }, () => {
  test('[G42] a cycle that ends within the grace time ends, and then the process, with 0', async () => {
    const asked = Promise.withResolvers<string>();
    const stopping = Promise.withResolvers<void>();
    await using crew = await openCrew({
      kind: 'sqlite',
      leaseMs: LONG_LEASE_MS,
      env: { TEST_GRACE_MS: '60000' },
      async decide(request) {
        if (request.agent !== 'Anna' || request.newCalls.length > 0) return doDuties(request);
        asked.resolve(request.gateway);
        await stopping.promise;
        return doDuties(request);
      },
    });
    await say(crew.first.url, 'North', 'Anna: charge m1');
    const gateway = crew.named(await asked.promise);
    gateway.send('SIGTERM');
    stopping.resolve();
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    const requests = crew.site.model.requests.filter(({ agent }) => agent === 'Anna');
    expect(new Set(requests.map((request) => request.gateway))).toEqual(new Set([gateway.name]));
    const runs = await crew.site.db.selectFrom('runs').select('attempts').where('status', '=', 'completed').execute();
    expect(runs.every(({ attempts }) => attempts === 1)).toBe(true);
    await crew.answered('m1');
  });

  test('[G42] a call that takes longer is ended too, and is not run again by itself', async () => {
    const inside = Promise.withResolvers<string>();
    await using crew = await openCrew({
      kind: 'sqlite',
      leaseMs: LONG_LEASE_MS,
      env: { TEST_GRACE_MS: '300' },
      decide: doDuties,
      async onTool({ gateway }) {
        inside.resolve(gateway);
        await new Promise(() => {});
      },
    });
    await say(crew.first.url, 'North', 'Anna: charge m1');
    const gateway = crew.named(await inside.promise);
    gateway.send('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    await crew.site.start('successor');
    await crew.answered('m1');
    expect(await crew.problems()).toEqual([]);
    expect(await crew.site.effects()).toHaveLength(1);
  });
});
