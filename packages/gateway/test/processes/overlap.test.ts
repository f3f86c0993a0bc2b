import { expect, test } from 'vitest';
import { doDuties } from './answering.ts';
import { type Crew, openCrew } from './crew.ts';
import { say } from './site.ts';

test('[G9] runs of an agent never overlap, on either of two gateways', async () => {
  await using crew = await openCrew({
    kind: 'postgres',
    // A lease so long that no gateway takes it over.
    leaseMs: 60_000,
    decide: (request) => ({ ...doDuties(request), paceMs: 2 }),
  });
  const { requests, overlaps } = crew.site.model;
  const gatewaysOf = (name: string): string[] => [
    ...new Set(requests.filter(({ agent }) => agent === name).map(({ gateway }) => gateway)),
  ];
  // Which gateway gets a wake is random; if one of them is frozen, it is the other.
  for (const sleeper of ['a', 'b']) {
    crew.named(sleeper).send('SIGSTOP');
    await talk(crew, [sleeper === 'a' ? 'b' : 'a']);
    crew.named(sleeper).send('SIGCONT');
  }
  await talk(crew, ['a', 'b']);
  await talk(crew, ['b', 'a']);
  expect(gatewaysOf('Anna').toSorted()).toEqual(['a', 'b']);
  expect(gatewaysOf('Bert').toSorted()).toEqual(['a', 'b']);
  expect(overlaps).toEqual([]);
  expect(await crew.problems()).toEqual([]);
});

let posted = 0;

/** Posts several messages at once to each of two agents through these gateways. Resolves when all are answered and no agent is at work. */
async function talk(crew: Crew, names: readonly string[]): Promise<void> {
  const messages = ['Anna', 'Bert', 'Anna', 'Bert'].map((agent, index) => ({
    agent,
    ref: `m${++posted}`,
    at: names[index % names.length] ?? '',
  }));
  await Promise.all(messages.map(({ agent, ref, at }) => say(crew.named(at).url, 'North', `${agent}: answer ${ref}`)));
  await crew.answered(...messages.map(({ ref }) => ref));
  expect(await crew.problems()).toEqual([]);
}
