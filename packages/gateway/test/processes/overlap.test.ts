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
  const { requests } = crew.site.model;
  const served = (): number =>
    new Set(requests.filter(({ agent }) => agent === 'Bert').map(({ gateway }) => gateway)).size;
  let posted = 0;
  // Which gateway gets a wake is chance: until each has had some, there is more to say.
  for (let round = 0; round < 5 || (served() < 2 && round < 100); round++) {
    const refs = Array.from({ length: 6 }, () => `m${++posted}`);
    await Promise.all(
      refs.map((ref, index) => {
        const { url } = crew.named(index % 2 === 0 ? 'a' : 'b');
        return say(url, index < 3 ? 'North' : 'South', `Bert: answer ${ref}`);
      }),
    );
    await crew.answered(...refs);
  }
  expect(served()).toBe(2);
  expect(crew.site.model.overlaps).toEqual([]);
  expect(await crew.problems()).toEqual([]);
});
