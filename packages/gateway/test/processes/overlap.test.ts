import { expect, test } from 'vitest';
import { doDuties } from './answering.ts';
import { openCrew } from './crew.ts';
import { say } from './site.ts';

test('[G9] cycles of an agent never overlap, whichever of two gateways has them', async () => {
  await using crew = await openCrew({
    kind: 'postgres',
    // A lease that nobody has to take from anybody.
    leaseMs: 60_000,
    decide: (request) => ({ ...doDuties(request), paceMs: 2 }),
  });
  const { requests, overlaps } = crew.site.model;
  const isShared = (): boolean => {
    const gateways = Map.groupBy(requests, ({ agent }) => agent);
    return [...gateways.values()].some((own) => new Set(own.map(({ gateway }) => gateway)).size > 1);
  };
  const agents = ['Anna', 'Bert', 'Anna', 'Bert'] as const;
  let posted = 0;
  // Which gateway gets a wake is chance: until one agent has been with both, there is more to say.
  for (let round = 0; round < 3 || (!isShared() && round < 50); round++) {
    const messages = agents.map((agent, index) => ({ agent, ref: `m${++posted}`, at: index % 2 === 0 ? 'a' : 'b' }));
    await Promise.all(
      messages.map(({ agent, ref, at }) => say(crew.named(at).url, 'North', `${agent}: answer ${ref}`)),
    );
    await crew.answered(...messages.map(({ ref }) => ref));
  }
  expect(isShared()).toBe(true);
  expect(overlaps).toEqual([]);
  expect(await crew.problems()).toEqual([]);
});
