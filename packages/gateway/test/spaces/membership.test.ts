import { expect, test } from 'vitest';
import { deleteAgent } from '../../src/domain/agents/delete-agent.ts';
import { addMember, listMembers, removeMember, requireMember } from '../../src/domain/spaces/membership.ts';
import { createSpace, getSpace, listSpaces } from '../../src/domain/spaces/space.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';

describeIdleWorld('membership', ({ world }) => {
  const join = (spaceId: string, entityId: string, role?: string) =>
    world.in((tx) => addMember(tx, { spaceId, entityId, role }));
  const leave = (spaceId: string, entityId: string) => world.in((tx) => removeMember(tx, { spaceId, entityId }));
  const membersOf = async (spaceId: string) =>
    (await listMembers(world.store.db, { spaceId })).items.map(({ entityId }) => entityId);
  const activeSpaceOf = async (agentId: string) =>
    (
      await world.store.db
        .selectFrom('agents')
        .select('active_space_id')
        .where('id', '=', agentId)
        .executeTakeFirstOrThrow()
    ).active_space_id;
  const activate = (agentId: string, spaceId: string) =>
    world.in((tx) => tx.db.updateTable('agents').set({ active_space_id: spaceId }).where('id', '=', agentId).execute());

  test('a space is read back as it was created, with its members', async () => {
    const ann = await world.person('Ann');
    const made = await world.in((tx) =>
      createSpace(tx, {
        name: 'Tokyo',
        description: 'The trip.',
        metadata: { color: 'blue' },
        members: [{ entityId: ann, role: 'owner' }],
      }),
    );
    expect(await getSpace(world.store.db, made.id)).toEqual(made);
    expect(made).toMatchObject({ name: 'Tokyo', description: 'The trip.', metadata: { color: 'blue' } });
    expect((await listMembers(world.store.db, { spaceId: made.id })).items).toMatchObject([
      { entityId: ann, role: 'owner', kind: 'human', displayName: 'Ann' },
    ]);
  });

  test('a space with a member that does not exist is not made at all', async () => {
    const before = (await listSpaces(world.store.db, { limit: 200 })).items.length;
    await expect(world.space('Space', ['nobody'])).rejects.toMatchObject({ code: 'not_found' });
    expect((await listSpaces(world.store.db, { limit: 200 })).items).toHaveLength(before);
  });

  test('[G1] a non-member gets the same answer as for a space that does not exist', async () => {
    const [ann, eve] = [await world.person('Ann'), await world.person('Eve')];
    const space = await world.space('Space', [ann]);
    await expect(requireMember(world.store.db, space, ann)).resolves.toMatchObject({ role: 'member' });
    const refused = { code: 'not_found' };
    await expect(requireMember(world.store.db, space, eve)).rejects.toMatchObject({
      ...refused,
      message: `There is no space "${space}".`,
    });
    await expect(requireMember(world.store.db, 'none', ann)).rejects.toMatchObject({
      ...refused,
      message: 'There is no space "none".',
    });
    await expect(requireMember(world.store.db, 'a\u0000b', ann)).rejects.toMatchObject(refused);
    await expect(requireMember(world.store.db, space, 'a\u0000b')).rejects.toMatchObject(refused);
  });

  test('[G1] an entity that left is not a member any more, and is one again after joining again', async () => {
    const ann = await world.person();
    const space = await world.space('Space', [ann]);
    await leave(space, ann);
    await expect(requireMember(world.store.db, space, ann)).rejects.toMatchObject({ code: 'not_found' });
    expect(await membersOf(space)).toEqual([]);
    expect((await listSpaces(world.store.db, { entityId: ann })).items).toEqual([]);
    await expect(leave(space, ann)).rejects.toMatchObject({ code: 'not_found' });
    await join(space, ann);
    await expect(requireMember(world.store.db, space, ann)).resolves.toMatchObject({ left_at: null });
  });

  test('an entity is shown only the spaces it is in', async () => {
    const [ann, eve] = [await world.person(), await world.person()];
    const [one, two] = [await world.space('Space', [ann]), await world.space('Space', [ann, eve])];
    const ids = async (entityId: string) => (await listSpaces(world.store.db, { entityId })).items.map(({ id }) => id);
    expect((await ids(ann)).toSorted()).toEqual([one, two].toSorted());
    expect(await ids(eve)).toEqual([two]);
    const first = await listSpaces(world.store.db, { entityId: ann, limit: 1 });
    const second = await listSpaces(world.store.db, { entityId: ann, limit: 1, cursor: first.next });
    expect([...first.items, ...second.items].map(({ id }) => id).toSorted()).toEqual([one, two].toSorted());
    expect(second.next).toBeUndefined();
  });

  test('joining and leaving emit an event; joining again with the same role does not', async () => {
    const ann = await world.person();
    const space = await world.space();
    await join(space, ann);
    await join(space, ann);
    await join(space, ann, 'owner');
    await join(space, ann);
    await leave(space, ann);
    const told = world.told.filter(({ stream }) => stream === `space:${space}`);
    expect(told.map(({ type, payload }) => ({ type, payload }))).toEqual([
      { type: 'member.joined', payload: { entityId: ann, role: 'member' } },
      { type: 'member.joined', payload: { entityId: ann, role: 'owner' } },
      { type: 'member.left', payload: { entityId: ann, role: 'owner' } },
    ]);
  });

  test('a member that returns does not have its earlier role', async () => {
    const ann = await world.person();
    const space = await world.space();
    await join(space, ann, 'owner');
    await leave(space, ann);
    expect(await join(space, ann)).toMatchObject({ role: 'member' });
  });

  test('[G19] an agent that is removed loses the space as its active one, and no other', async () => {
    const [bot, other] = [await world.agent(), await world.agent()];
    const [here, there] = [await world.space('Space', [bot, other]), await world.space('Space', [bot])];
    await activate(bot, here);
    await activate(other, here);
    await leave(there, bot);
    expect(await activeSpaceOf(bot)).toBe(here);
    await leave(here, bot);
    expect(await activeSpaceOf(bot)).toBeNull();
    expect(await activeSpaceOf(other)).toBe(here);
  });

  test('a deleted entity cannot become a member', async () => {
    const bot = await world.agent();
    const space = await world.space();
    await world.in((tx) => deleteAgent(tx, bot));
    await expect(join(space, bot)).rejects.toMatchObject({ code: 'not_found' });
  });

  test.each([
    ['an unknown space', (ann: string, _space: string) => join('none', ann)],
    ['an unknown entity', (_ann: string, space: string) => join(space, 'nobody')],
    ['an entity that cannot be', (_ann: string, space: string) => join(space, 'a\u0000b')],
    ['a space that cannot be', (ann: string, _space: string) => join('a\u0000b', ann)],
  ])('%s is not found', async (_name, attempt) => {
    const [ann, space] = [await world.person(), await world.space()];
    await expect(attempt(ann, space)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('members are listed in pages', async () => {
    const people = [await world.person(), await world.person(), await world.person()];
    const space = await world.space('Space', [...people]);
    const first = await listMembers(world.store.db, { spaceId: space, limit: 2 });
    const second = await listMembers(world.store.db, { spaceId: space, limit: 2, cursor: first.next });
    expect([...first.items, ...second.items].map(({ entityId }) => entityId).toSorted()).toEqual(people.toSorted());
    expect(second.next).toBeUndefined();
  });
});
