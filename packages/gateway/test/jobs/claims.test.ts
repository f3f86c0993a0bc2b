import { describe, expect, test } from 'vitest';
import { assertUnclaimed } from '../../src/domain/calls/claim.ts';
import { expireDue } from '../../src/domain/calls/expire-due.ts';
import { offerLapsed } from '../../src/domain/calls/offer-lapsed.ts';
import { openCard } from '../../src/domain/spaces/tool-card.ts';
import { openApi } from '../http/api.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';
import { openJob } from './job-desk.ts';

/** Far in the future: at that time every claim has lapsed, but none has by the clock of the database. */
const LATER = Date.now() + 86_400_000;

describe.each(databases)('the claim of a job on $kind', ({ create }) => {
  const database = forAllTests(create);
  const api = forAllTests(() => openApi(database));

  const claim = (callId: string, worker = 'w1', more: object = {}) =>
    api.call('POST', `/api/jobs/${callId}/claim`, { body: { worker, leaseMs: 60_000, ...more } });
  const beat = (callId: string, claimToken: string, progress?: unknown) =>
    api.call('POST', `/api/jobs/${callId}/heartbeat`, { body: { claimToken, progress } });
  const answer = ({ callId, runId }: { callId: string; runId: string }, body: object) =>
    api.call('POST', `/api/runs/${runId}/tool-results`, { body: { callId, ...body } });
  const lapse = () => offerLapsed(api.services, { now: LATER });
  const eventsOf = async (agentId: string) =>
    (await api.store.db.selectFrom('stream_events').selectAll().where('stream', '=', `jobs:${agentId}`).execute()).map(
      ({ type }) => type,
    );
  const inboxOf = async (agentId: string) =>
    await api.store.db.selectFrom('inbox_events').select('payload').where('thread_id', '=', agentId).execute();

  test('[X2] of ten workers that claim a job at once exactly one gets it, and the others learn who did', async () => {
    const { callId, agentId } = await openJob(api, await api.agent());
    const claims = await Promise.all(Array.from({ length: 10 }, (_, index) => claim(callId, `w${index}`)));
    const won = claims.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(won[0]?.body).toMatchObject({ callId, agentId, toolName: 'haul', input: { ref: 'm1' }, attempt: 1 });
    const winner = `w${claims.findIndex(({ status }) => status === 200)}`;
    for (const { status, body } of claims.filter((one) => one !== won[0])) {
      expect([status, body.error.code]).toEqual([409, 'job_claimed']);
      expect(body.error.details.worker).toBe(winner);
    }
    expect(await eventsOf(agentId)).toEqual(['job.available', 'job.claimed']);
  });

  test('[X2] the worker answers with its claim, the agent gets one event, and the same answer again is a duplicate', async () => {
    const job = await openJob(api, await api.agent());
    expect((await answer(job, { result: 'forged', claimToken: 'x' })).body.error.code).toBe('claim_lost');
    const { claimToken } = (await claim(job.callId)).body;
    expect((await answer(job, { result: 'stolen' })).body.error.code).toBe('job_claimed');
    expect((await answer(job, { result: 'forged', claimToken: 'x' })).body.error.code).toBe('claim_lost');
    expect(await inboxOf(job.agentId)).toEqual([]);
    expect((await answer(job, { result: 'done', claimToken })).body).toMatchObject({
      callId: job.callId,
      duplicate: false,
    });
    expect((await answer(job, { result: 'done', claimToken })).body.duplicate).toBe(true);
    expect((await answer(job, { result: 'other', claimToken })).body.error.code).toBe('already_answered');
    expect(await inboxOf(job.agentId)).toHaveLength(1);
    expect(await eventsOf(job.agentId)).toEqual(['job.available', 'job.claimed', 'job.ended']);
    expect((await claim(job.callId, 'w2')).body.error.code).toBe('already_answered');
    expect((await beat(job.callId, claimToken)).body.error.code).toBe('already_answered');
  });

  test('[X2] a job that still needs an approval is not announced, and people see no worker', async () => {
    const { callId } = await openJob(api, await api.agent(), { kind: 'approval', isJob: true });
    const call = api.store.db.selectFrom('calls').select(['offered_at', 'announce_at', 'offers']);
    expect(await call.where('id', '=', callId).executeTakeFirst()).toEqual({
      ...{ offered_at: null, announce_at: null, offers: 0 },
    });
    const { items } = await api.done<{ items: { callId: string }[] }>('GET', '/api/pending?limit=200');
    expect(items.find((one) => one.callId === callId)).not.toHaveProperty('job');
    expect((await claim(callId)).status).toBe(404);
  });

  test('a worker reports a failure, and the agent gets the error', async () => {
    const job = await openJob(api, await api.agent());
    const { claimToken } = (await claim(job.callId)).body;
    expect((await answer(job, { error: 'The crane broke.', claimToken })).status).toBe(200);
    const [event] = await inboxOf(job.agentId);
    expect(JSON.parse(event?.payload ?? '{}')).toMatchObject({
      outcome: { status: 'error', message: 'The crane broke.' },
    });
  });

  test('[X2] a job whose claim gets no more heartbeats is offered again, and later answers of the first worker do not count', async () => {
    const job = await openJob(api, await api.agent());
    const first = (await claim(job.callId, 'slow')).body;
    const calls = () => api.store.db.selectFrom('calls').where('id', '=', job.callId);
    // The webhook was down when the job was announced first.
    await api.store.transaction((tx) =>
      tx.db.updateTable('calls').set({ announce_attempts: 9 }).where('id', '=', job.callId).execute(),
    );
    await lapse();
    expect(await calls().select(['announce_at', 'announce_attempts', 'offers']).executeTakeFirst()).toEqual({
      ...{ announce_at: LATER, announce_attempts: 0, offers: 2 },
    });
    expect(await eventsOf(job.agentId)).toEqual(['job.available', 'job.claimed', 'job.available']);
    const second = (await claim(job.callId, 'quick')).body;
    expect(second).toMatchObject({ attempt: 2, input: { ref: 'm1' } });
    expect((await answer(job, { result: 'late', claimToken: first.claimToken })).body.error.code).toBe('claim_lost');
    expect((await beat(job.callId, first.claimToken)).body.error.code).toBe('claim_lost');
    expect((await answer(job, { result: 'done', claimToken: second.claimToken })).status).toBe(200);
    expect(await inboxOf(job.agentId)).toHaveLength(1);
  });

  test('[X2] a job whose row is damaged does not keep the jobs of others from being offered again', async () => {
    const [broken, other] = [await openJob(api, await api.agent()), await openJob(api, await api.agent())];
    await claim(broken.callId, 'w1', { leaseMs: 10_000 });
    await claim(other.callId);
    const write = (input: string) =>
      api.store.transaction((tx) =>
        tx.db.updateTable('calls').set({ input }).where('id', '=', broken.callId).execute(),
      );
    await write('{"ref');
    await lapse();
    expect(await eventsOf(other.agentId)).toEqual(['job.available', 'job.claimed', 'job.available']);
    expect(await eventsOf(broken.agentId)).toEqual(['job.available', 'job.claimed']);
    expect(api.logs.at(-1)?.message).toContain(`Job ${broken.callId} could not be offered again, and is tried again: `);
    await write('{"ref":"m1"}');
    expect(await lapse()).toBe(1);
    expect(await eventsOf(broken.agentId)).toEqual(['job.available', 'job.claimed', 'job.available']);
  });

  test('[X2] a job with a lapsed claim can be claimed before it was offered again', async () => {
    const job = await openJob(api, await api.agent());
    await claim(job.callId, 'slow', { leaseMs: 100 });
    await expect.poll(async () => (await claim(job.callId, 'quick')).status).toBe(200);
  });

  test('[X2] a claim lapses at the millisecond until which it lasts', async () => {
    const job = await openJob(api, await api.agent());
    const { claimedUntil } = (await claim(job.callId)).body;
    await offerLapsed(api.services, { now: claimedUntil - 1 });
    expect(await eventsOf(job.agentId)).toEqual(['job.available', 'job.claimed']);
    const claimed = { claim_hash: 'x', claimed_by: 'w1', claimed_until: claimedUntil };
    expect(() => assertUnclaimed(claimed, claimedUntil - 1)).toThrow('Another worker has claimed the call.');
    expect(() => assertUnclaimed(claimed, claimedUntil)).not.toThrow();
    await offerLapsed(api.services, { now: claimedUntil });
    expect(await eventsOf(job.agentId)).toEqual(['job.available', 'job.claimed', 'job.available']);
  });

  test('[X2] heartbeats keep the claim', async () => {
    const job = await openJob(api, await api.agent());
    const { claimToken, claimedUntil } = (await claim(job.callId)).body;
    const beaten = await beat(job.callId, claimToken);
    expect(beaten.body.claimedUntil).toBeGreaterThanOrEqual(claimedUntil);
    // By its first deadline it would have lapsed.
    await api.store.transaction((tx) =>
      tx.db.updateTable('calls').set({ claimed_until: 1 }).where('id', '=', job.callId).execute(),
    );
    expect((await beat(job.callId, claimToken)).status).toBe(200);
    expect(await offerLapsed(api.services)).toBe(0);
    expect((await claim(job.callId, 'w2')).status).toBe(409);
  });

  test('[X2] a worker that returns before another one claims the job keeps it, and its answer counts', async () => {
    const job = await openJob(api, await api.agent());
    const { claimToken } = (await claim(job.callId)).body;
    await lapse();
    expect((await beat(job.callId, claimToken)).status).toBe(200);
    // The other workers, to which it was offered again, learn once that it is taken.
    const taken = ['job.available', 'job.claimed', 'job.available', 'job.claimed'];
    expect(await eventsOf(job.agentId)).toEqual(taken);
    const due = api.store.db.selectFrom('calls').select('announce_at').where('id', '=', job.callId);
    expect(await due.executeTakeFirst()).toEqual({ announce_at: null });
    await beat(job.callId, claimToken);
    expect(await eventsOf(job.agentId)).toEqual(taken);
    expect((await claim(job.callId, 'w2')).status).toBe(409);
    await lapse();
    expect((await answer(job, { result: 'done', claimToken })).status).toBe(200);
    expect(await lapse()).toBe(0);
  });

  test('progress goes to the space of the card and to the other workers, up to a limit', async () => {
    const ada = await api.person();
    const agentId = await api.agent();
    const spaceId = await api.space(ada, agentId);
    const job = await openJob(api, agentId, { spaceId });
    const card = { spaceId, entityId: agentId, runId: job.runId, callId: job.callId, toolName: 'haul', input: {} };
    await api.store.transaction((tx) => openCard(tx, { ...card, status: 'requires_action' }));
    const { claimToken } = (await claim(job.callId)).body;
    await beat(job.callId, claimToken, { percent: 40 });
    const unseen = await openJob(api, agentId, { spaceId });
    await beat(unseen.callId, (await claim(unseen.callId)).body.claimToken, { percent: 50 });
    const told = await api.store.db
      .selectFrom('stream_events')
      .selectAll()
      .where('type', 'like', '%progress')
      .execute();
    const own = told.filter(({ payload }) => payload.includes(job.callId));
    expect(own.map(({ stream, type }) => [stream, type]).sort()).toEqual([
      [`jobs:${agentId}`, 'job.progress'],
      [`space:${spaceId}`, 'tool-call.progress'],
    ]);
    expect(JSON.parse(own[0]?.payload ?? '')).toMatchObject({ callId: job.callId, value: { percent: 40 } });
    // A space without a card of the call gets no progress.
    const others = told.filter(({ payload }) => payload.includes(unseen.callId));
    expect(others.map(({ type }) => type)).toEqual(['job.progress']);
    const flood = await beat(job.callId, claimToken, 'x'.repeat(16_000));
    expect([flood.status, flood.body.error.code]).toEqual([413, 'too_large']);
  });

  test('a worker cannot answer a job that expired or was cancelled', async () => {
    const [one, other] = [
      await openJob(api, await api.agent(), { expiresAt: LATER }),
      await openJob(api, await api.agent()),
    ];
    const [first, second] = [(await claim(one.callId)).body, (await claim(other.callId)).body];
    await expireDue(api.services, { now: LATER });
    await api.done('DELETE', `/api/agents/${other.agentId}`);
    for (const [{ callId }, { claimToken }, code] of [
      [one, first, 'expired'],
      [other, second, 'cancelled'],
    ] as const) {
      expect([(await beat(callId, claimToken)).status, (await beat(callId, claimToken)).body.error.code]).toEqual([
        410,
        code,
      ]);
      expect((await claim(callId)).status).toBe(410);
    }
    expect(await eventsOf(one.agentId)).toEqual(['job.available', 'job.claimed', 'job.ended']);
    expect(await eventsOf(other.agentId)).toEqual(['job.available', 'job.claimed', 'job.ended']);
  });

  test('a call that people answer is not a job, and strangers do not learn that a job exists', async () => {
    const agentId = await api.agent();
    const card = await openJob(api, agentId, { isJob: false });
    expect((await claim(card.callId)).status).toBe(404);
    const named = await api.person('Worker');
    const job = await openJob(api, agentId, { answeredBy: { entities: [named] } });
    const as = async (entityId: string) =>
      await api.call('POST', `/api/jobs/${job.callId}/claim`, {
        body: { worker: 'w' },
        secret: await api.tokenOf(entityId),
      });
    expect(await as(await api.person('Mallory'))).toMatchObject({
      status: 404,
      body: { error: { message: `There is no job "${job.callId}".` } },
    });
    expect((await as(named)).status).toBe(200);
    expect(
      (
        await api.call('POST', `/api/jobs/${job.callId}/claim`, {
          body: { worker: 'w' },
          secret: await api.keyWith('read'),
        })
      ).status,
    ).toBe(403);
  });

  test('operators see who works on what, and never the token', async () => {
    const job = await openJob(api, await api.agent());
    const { claimToken, claimedUntil } = (await claim(job.callId, 'crane-7')).body;
    const { items } = (await api.call('GET', `/api/pending?agentId=${job.agentId}`)).body;
    expect(items).toMatchObject([{ callId: job.callId, job: { claims: 1, worker: 'crane-7', claimedUntil } }]);
    const row = await api.store.db
      .selectFrom('calls')
      .selectAll()
      .where('id', '=', job.callId)
      .executeTakeFirstOrThrow();
    expect(JSON.stringify([items, row])).not.toContain(claimToken);
  });
});
