import { expect, test } from 'vitest';
import { createEntity } from '../../src/domain/entities/entity.ts';
import { listInbox } from '../../src/domain/inbox/list-inbox.ts';
import { addMember } from '../../src/domain/spaces/membership.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';

describeIdleWorld('hops', ({ world }) => {
  const statusesOf = async (agentId: string) =>
    (await listInbox(world.store.db, { agentId })).items.toReversed().map(({ status }) => status);

  test('[G5] the ninth message of agents among themselves wakes no agent, and operators see what was withheld', async () => {
    const [one, two] = [await world.agent('One'), await world.agent('Two')];
    const space = await world.space('Space', [one, two]);
    world.wakes.length = 0;
    world.logs.length = 0;
    for (let hop = 1; hop <= 10; hop++) await world.say(space, hop % 2 === 1 ? one : two, `${hop}`);
    // Odd messages go to two, even ones to one.
    expect(await statusesOf(two)).toEqual([...Array(4).fill('pending'), 'withheld']);
    expect(await statusesOf(one)).toEqual([...Array(4).fill('pending'), 'withheld']);
    expect(world.wakes).toHaveLength(8);
    const { items } = await listInbox(world.store.db, { agentId: two, status: 'withheld' });
    expect(items).toMatchObject([{ event: { text: '9' }, error: { code: 'hop_limit' } }]);
    expect(world.logs.filter(({ level }) => level !== 'info')).toMatchObject(
      Array(2).fill({ level: 'warn', details: { reason: 'hop_limit' } }),
    );
  });

  test('[G5] a person’s message resets the count, a service’s does not', async () => {
    const near = world.with({ hopLimit: 1 });
    const [one, two, ann] = [await world.agent(), await world.agent(), await world.person()];
    const relay = await world.in((tx) => createEntity(tx, { kind: 'service', displayName: 'Relay' }));
    const space = await world.space('Space', [one, two, ann, relay.id]);
    await near.say(space, one, 'first');
    await near.say(space, one, 'too far');
    await near.say(space, relay.id, 'from a service');
    await near.say(space, one, 'still too far');
    await near.say(space, ann, 'a person');
    await near.say(space, one, 'near again');
    await near.say(space, one, 'too far again');
    expect(await statusesOf(two)).toEqual([
      'pending',
      'withheld',
      'pending',
      'withheld',
      'pending',
      'pending',
      'withheld',
    ]);
  });

  test('[G5] messages that no agent gets are not counted', async () => {
    const near = world.with({ hopLimit: 1 });
    const [one, ann] = [await world.agent(), await world.person()];
    const space = await world.space('Space', [one, ann]);
    for (let i = 0; i < 5; i++) await near.say(space, one, 'a report for people');
    const two = await world.agent();
    await world.in((tx) => addMember(tx, { spaceId: space, entityId: two }));
    await near.say(space, one, 'first that is heard');
    expect(await statusesOf(two)).toEqual(['pending']);
  });

  test('[G5] an agent’s own hop limit takes precedence over the gateway’s', async () => {
    const [talker, deaf, patient] = [
      await world.agent('Talker'),
      await world.agent('Deaf', { limits: { hopLimit: 0 } }),
      await world.agent('Patient', { limits: { hopLimit: 2 } }),
    ];
    const space = await world.space('Space', [talker, deaf, patient]);
    const near = world.with({ hopLimit: 1 });
    for (let hop = 1; hop <= 3; hop++) await near.say(space, talker, `${hop}`);
    expect(await statusesOf(deaf)).toEqual(['withheld', 'withheld', 'withheld']);
    expect(await statusesOf(patient)).toEqual(['pending', 'pending', 'withheld']);
  });
});
