import { expect, test } from 'vitest';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { addMember, removeMember } from '../../src/domain/spaces/membership.ts';
import type { Tx } from '../../src/ports/store/store.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { holdLock, overlapping } from '../support/held-lock.ts';
import { openDesk } from './desk.ts';

describeIdleWorld({ title: 'answers while rights change', on: overlapping }, ({ world, database, beside }) => {
  const desk = forAllTests(() => openDesk(world));
  const other = beside();

  /** Requests the change when the answer was found to be allowed but is not committed. Returns the events of the space, in order. */
  const changeWhileAnswering = async (
    { callId, runId }: { callId: string; runId: string },
    entityId: string,
    change: (tx: Tx) => Promise<unknown>,
  ): Promise<readonly string[]> => {
    const { services, space } = desk;
    const held = await holdLock(database, 'select id from messages where call_id = $1 for update', [callId]);
    const answered = answer(services, { runId, callId, answer: { result: 'yes' }, by: { entityId } });
    await held.waitedFor();
    const changed = other.in(change);
    await held.waitedFor({ by: 2, orDone: changed });
    await held.release();
    await Promise.all([answered, changed]);
    const events = services.store.db.selectFrom('stream_events').select('type').where('stream', '=', `space:${space}`);
    return (await events.orderBy('seq').execute()).map(({ type }) => type).slice(-2);
  };

  test('[G1] a person cannot answer a call after they were removed from its space', async () => {
    const person = await desk.addMember('member');
    const call = await desk.ask();
    const leave = (tx: Tx) => removeMember(tx, { spaceId: desk.space, entityId: person });
    expect(await changeWhileAnswering(call, person, leave)).toEqual(['tool-call.complete', 'member.left']);
    expect(await desk.row(call.callId)).toMatchObject({ status: 'resolved', resolvedBy: person });
  });

  test('[G33] a person cannot answer a call after they lost the required role', async () => {
    const boss = await desk.addMember('boss');
    const call = await desk.ask({ answeredBy: { roles: ['boss'] } });
    const demote = (tx: Tx) => addMember(tx, { spaceId: desk.space, entityId: boss, role: 'member' });
    expect(await changeWhileAnswering(call, boss, demote)).toEqual(['tool-call.complete', 'member.joined']);
  });
});
