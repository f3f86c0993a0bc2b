import { expect, test } from 'vitest';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { expireDue } from '../../src/domain/calls/expire-due.ts';
import { listWaiting, type WaitingFilter } from '../../src/domain/calls/list-waiting.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { openDesk } from './desk.ts';

describeIdleWorld('the list of waiting calls', ({ world }) => {
  const desk = forAllTests(() => openDesk(world));

  const list = (filter?: WaitingFilter) => listWaiting(world.store.db, filter);
  const ids = async (filter?: WaitingFilter) => (await list(filter)).items.map(({ callId }) => callId);

  test('[G33] an entity sees the calls that it may answer, operators see all, and answered calls are gone', async () => {
    const owner = await desk.addMember('owner');
    const anyone = await desk.ask({ display: { customUI: 'confirm' }, input: { q: 1 }, expiresAt: 9e12 });
    const owners = await desk.ask({ answeredBy: { roles: ['owner'] } });
    const named = await desk.ask({ answeredBy: { entities: [desk.person] } });
    const hidden = await desk.ask({ spaceId: undefined });
    const service = await desk.ask({ spaceId: undefined, answeredBy: { entities: [desk.stranger] } });
    const done = await desk.ask();
    await answer(desk.services, { ...done, answer: { result: 1 }, by: desk.member });
    const sorted = (...calls: { callId: string }[]) => calls.map(({ callId }) => callId).sort();

    expect(await ids({ entityId: desk.person })).toEqual(sorted(anyone, named));
    expect(await ids({ entityId: owner })).toEqual(sorted(anyone, owners));
    expect(await ids({ entityId: desk.stranger })).toEqual(sorted(service));
    expect(await ids()).toEqual(sorted(anyone, owners, named, hidden, service));
    expect((await list({ entityId: desk.person })).items[0]).toEqual({
      callId: anyone.callId,
      runId: anyone.runId,
      agentId: desk.agent,
      spaceId: desk.space,
      toolName: 'confirm',
      kind: 'result',
      input: { q: 1 },
      display: { customUI: 'confirm' },
      status: 'pending',
      expiresAt: 9e12,
      createdAt: expect.any(Number),
    });
    await desk.leave(owner);
    expect(await ids({ entityId: owner })).toEqual([]);
  });

  test('[G32] operators find the answers that came too late; members do not', async () => {
    const agentId = await world.agent();
    const call = await desk.ask({ agentId, expiresAt: 1 });
    const late = answer(desk.services, { ...call, answer: { result: 'late' }, by: desk.member });
    await expect(late).rejects.toMatchObject({ code: 'expired' });
    expect((await list({ agentId, status: 'expired' })).items).toMatchObject([
      { callId: call.callId, lateAnswers: [{ answer: { result: 'late' }, by: desk.person }] },
    ]);
    const [seen, ...others] = (await list({ agentId, status: 'expired', entityId: desk.person })).items;
    expect([seen?.callId, others]).toEqual([call.callId, []]);
    expect(seen).not.toHaveProperty('lateAnswers');
    expect(await ids({ agentId, status: 'expired', entityId: desk.stranger })).toEqual([]);
    expect(await ids({ agentId })).toEqual([]);
  });

  test('a person who could have answered a call finds it among the answered ones, with the name of the answerer', async () => {
    const agentId = await world.agent();
    const call = await desk.ask({ agentId });
    await answer(desk.services, { ...call, answer: { result: 1 }, by: desk.member });
    const owners = await desk.ask({ agentId, answeredBy: { roles: ['owner'] } });
    await answer(desk.services, { ...owners, answer: { result: 1 }, by: { key: true } });
    const { items } = await list({ agentId, status: 'resolved', entityId: desk.person });
    expect(items).toMatchObject([{ callId: call.callId, resolvedBy: desk.person, resolvedByName: 'Husam' }]);
    expect(await ids({ agentId, status: 'resolved', spaceId: desk.space })).toHaveLength(2);
    expect(await ids({ agentId, status: 'resolved', spaceId: 'elsewhere' })).toEqual([]);
  });

  test('the list can be filtered by agent', async () => {
    const agentId = await world.agent();
    const { callId } = await desk.ask({ agentId });
    expect(await ids({ agentId })).toEqual([callId]);
    expect(await ids({ agentId, entityId: desk.stranger })).toEqual([]);
  });

  test('pages skip nothing and repeat nothing, for every reader', async () => {
    const agentId = await world.agent();
    const calls: string[] = [];
    for (let count = 0; count < 25; count++) {
      // Two of three calls are for other people.
      const answeredBy = count % 3 === 0 ? undefined : { roles: ['owner'] };
      const { callId } = await desk.ask({ agentId, answeredBy });
      if (answeredBy === undefined) calls.push(callId);
    }
    for (const limit of [1, 2, 4, 9, 200]) {
      const seen: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await list({ agentId, entityId: desk.person, limit, cursor });
        expect(page.items.length).toBeLessThanOrEqual(limit);
        seen.push(...page.items.map(({ callId }) => callId));
        cursor = page.next;
        if (cursor === undefined) break;
      }
      expect(seen).toEqual(calls.sort());
    }
  });

  test('calls that expire first come first, also across pages, and calls that do not expire come last', async () => {
    const agentId = await world.agent();
    const expiries = [9e12 + 2, undefined, 9e12, 9e12 + 1, undefined, 9e12];
    for (const expiresAt of expiries) await desk.ask({ agentId, ...(expiresAt === undefined ? {} : { expiresAt }) });
    const seen: (number | undefined)[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await list({ agentId, limit: 1, cursor });
      seen.push(...page.items.map(({ expiresAt }) => expiresAt));
      cursor = page.next;
      if (cursor === undefined) break;
    }
    expect(seen).toEqual([9e12, 9e12, 9e12 + 1, 9e12 + 2, undefined, undefined]);
    for (const cursor of ['x', '.a', '9999999999999999.a', '99999999999999999.a'])
      await expect(list({ cursor })).rejects.toMatchObject({ code: 'invalid_request' });
  });

  test('calls that were answered last come first, also across pages', async () => {
    const agentId = await world.agent();
    const asked = [];
    // They expire in the order in which they were asked, and are answered in the opposite order.
    for (let count = 0; count < 4; count++) asked.push(await desk.ask({ agentId, expiresAt: 9e12 + count }));
    for (const call of asked.toReversed()) {
      await answer(desk.services, { ...call, answer: { result: 1 }, by: desk.member });
      // Two that end in the same millisecond have no order.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const seen: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await list({ agentId, status: 'resolved', limit: 1, cursor });
      seen.push(...page.items.map(({ callId }) => callId));
      cursor = page.next;
      if (cursor === undefined) break;
    }
    expect(seen).toEqual(asked.map(({ callId }) => callId));
  });

  test('a person finds all ended calls that they could have answered, behind those of others', async () => {
    const agentId = await world.agent();
    const own: string[] = [];
    for (let count = 0; count < 12; count++) {
      // Three of four calls were for other people, so that a page is often read on.
      const answeredBy = count % 4 === 0 ? undefined : { roles: ['owner'] };
      const { callId } = await desk.ask({ agentId, answeredBy, expiresAt: count + 1 });
      if (answeredBy === undefined) own.push(callId);
    }
    await expireDue(desk.services, { agentId });
    for (const limit of [1, 2, 3, 200]) {
      const seen: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await list({ agentId, entityId: desk.person, status: 'expired', limit, cursor });
        seen.push(...page.items.map(({ callId }) => callId));
        cursor = page.next;
        if (cursor === undefined) break;
      }
      expect(seen).toEqual(own.toSorted().reverse());
    }
  });

  test('[G53] a page size above the limit is refused', async () => {
    for (const limit of [0, 201, 1.5, Number.NaN])
      await expect(list({ limit })).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await ids({ entityId: 'a\0' })).toEqual([]);
    expect(await ids({ agentId: 'a\0' })).toEqual([]);
    await expect(list({ cursor: 'a\0' })).rejects.toMatchObject({ code: 'invalid_request' });
  });
});
