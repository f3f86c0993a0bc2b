import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, test } from 'vitest';
import { createAgent } from '../../src/domain/agents/create-agent.ts';
import { verifyWebhook } from '../../src/domain/calls/webhook-signature.ts';
import { createEntity } from '../../src/domain/entities/entity.ts';
import { newId } from '../../src/domain/new-id.ts';
import { noteFailure } from '../../src/domain/notify/note-event.ts';
import { planNotifications } from '../../src/domain/notify/plan-notifications.ts';
import { sweepNotifications } from '../../src/domain/notify/sweep-notifications.ts';
import { endAttempt, takeDue } from '../../src/domain/notify/take-due.ts';
import { createProject } from '../../src/domain/projects/project.ts';
import { addMember, removeMember } from '../../src/domain/spaces/membership.ts';
import { waitFor } from '../../src/testing/index.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { startWebSite } from '../support/web-site.ts';
import { BASE_URL, deliver, KEY, makeDue, openCall, rowsOf, targetTo, webhookTo } from './desk.ts';

const ids = (site: { requests: readonly { headers: Record<string, unknown> }[] }) =>
  site.requests.map(({ headers }) => headers['webhook-id']);

describeIdleWorld('notifications', ({ world, kind, beside }) => {
  const otherWorld = beside();

  test('[O8] a waiting call is sent to a webhook, signed, with the tool, the agent and a link, and without its input', async () => {
    await using site = await startWebSite();
    await using gateway = deliver(world, [targetTo(webhookTo(site.url), { name: 'one' })], { allow: [site.host] });
    const agentId = await world.agent('Clerk');
    const callId = await openCall(world, agentId, { input: { account: 'DE-4711' }, expiresAt: Date.now() + 9e6 });
    await gateway.send();
    const [request] = site.requests;
    expect(site.requests).toHaveLength(1);
    const { headers = {}, body = '' } = request ?? {};
    expect(await verifyWebhook({ headers, body, secrets: [KEY], isNew: () => true })).toMatchObject({ ok: true });
    const told = JSON.parse(body);
    expect(told).toMatchObject({
      type: 'call.waiting',
      id: headers['webhook-id'],
      project: 'default',
      title: 'send_money waits for approval',
      agent: { id: agentId, name: 'Clerk' },
      call: { id: callId, tool: 'send_money', kind: 'approval', expiresAt: expect.any(Number) },
      link: { url: `${BASE_URL}/calls/${callId}` },
    });
    expect(body).not.toContain('4711');
    expect(await rowsOf(world, { callId })).toMatchObject([
      { status: 'sent', attempts: 1, next_at: null, error: null },
    ]);
    await gateway.send();
    expect(site.requests).toHaveLength(1);
  });

  test('[O8] the input is sent only to a target with that option', async () => {
    await using site = await startWebSite();
    const target = targetTo(webhookTo(site.url), { name: 'curious', includesInput: true });
    await using gateway = deliver(world, [target], { allow: [site.host] });
    await openCall(world, await world.agent(), { input: { account: 'DE-4711', note: 'Bearer abcdefgh12345678' } });
    await gateway.send();
    expect(site.requests[0]?.body).toContain('DE-4711');
    expect(site.requests[0]?.body).not.toContain('abcdefgh12345678');
  });

  test('[O8] gateways that sweep at the same time send each event once', async () => {
    await using site = await startWebSite();
    const target = targetTo(webhookTo(site.url), { name: 'shared' });
    await using one = deliver(world, [target], { allow: [site.host] });
    await using other = deliver(otherWorld, [target], { allow: [site.host] });
    const agentId = await world.agent();
    for (let count = 0; count < 40; count++) await openCall(world, agentId);
    for (let round = 0; round < 3; round++) await Promise.all([one.send(), other.send()]);
    await waitFor(async () => (await rowsOf(world, { target: 'shared' })).every(({ status }) => status === 'sent'));
    expect([ids(site).length, new Set(ids(site)).size]).toEqual([40, 40]);
  });

  if (kind === 'postgres')
    test('[O8] a notification that one gateway is about to claim is not claimed by another', async () => {
      await using gateway = deliver(world, [targetTo(webhookTo('http://127.0.0.1:9'), { name: 'taken' })]);
      const callId = await openCall(world, await world.agent());
      await gateway.send();
      await makeDue(world);
      const taking = { target: 'taken', limit: 5, timeoutMs: 1_000 };
      const [taken, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const first = world.in(async (tx) => {
        const rows = await takeDue(tx, taking);
        taken.resolve();
        await end.promise;
        return rows;
      });
      await taken.promise;
      const theirs = await otherWorld.in((tx) => takeDue(tx, taking));
      end.resolve();
      const ours = await first;
      expect(ours.map(({ call_id }) => call_id)).toEqual([callId]);
      expect(theirs).toEqual([]);
    });

  test('[O8] a target that says with a number of seconds or a date when to come back is left alone until then, an hour at most', async () => {
    const inTenMinutes = new Date(Date.now() + 600_000).toUTCString();
    const waits = { '600': 600_000, [inTenMinutes]: 600_000, '86400': 3_600_000, soon: 0 };
    for (const [retryAfter, waitMs] of Object.entries(waits)) {
      await using site = await startWebSite((_request, response) =>
        response.writeHead(429, { 'retry-after': retryAfter }).end(),
      );
      await using gateway = deliver(world, [targetTo(webhookTo(site.url), { name: 'busy' })], { allow: [site.host] });
      const callId = await openCall(world, await world.agent());
      const before = Date.now();
      await gateway.send();
      const [row] = await rowsOf(world, { callId });
      const waited = (row?.next_at ?? 0) - before;
      // The date has whole seconds, and a backoff of seconds is the least.
      expect([retryAfter, waited > waitMs - 2_000 && waited < waitMs + 60_000]).toEqual([retryAfter, true]);
    }
  });

  test('[O8] an attempt that failed is repeated later with the same id, and its error is shown meanwhile', async () => {
    await using site = await startWebSite((_request, response) =>
      response.writeHead(site.requests.length < 3 ? 500 : 200).end('a text of the target'),
    );
    await using gateway = deliver(world, [targetTo(webhookTo(site.url), { name: 'moody' })], { allow: [site.host] });
    const callId = await openCall(world, await world.agent());
    await gateway.send();
    await gateway.send();
    expect(site.requests).toHaveLength(1);
    const [failed] = await rowsOf(world, { callId });
    expect(failed).toMatchObject({ status: 'pending', attempts: 1, error: 'It answered HTTP 500.' });
    expect(failed?.next_at).toBeGreaterThan(Date.now());
    for (let round = 0; round < 3; round++) {
      await makeDue(world);
      await gateway.send();
    }
    expect(site.requests).toHaveLength(3);
    expect(new Set(ids(site)).size).toBe(1);
    expect(await rowsOf(world, { callId })).toMatchObject([{ status: 'sent', attempts: 3, error: null }]);
  });

  test('[O8] after the last attempt a notification has failed, and is not sent again', async () => {
    await using site = await startWebSite((_request, response) => response.writeHead(404).end());
    await using gateway = deliver(world, [targetTo(webhookTo(site.url), { name: 'gone' })], { allow: [site.host] });
    const callId = await openCall(world, await world.agent());
    for (let round = 0; round < 15; round++) {
      await makeDue(world);
      await gateway.send();
    }
    expect(site.requests).toHaveLength(10);
    expect(await rowsOf(world, { callId })).toMatchObject([
      { status: 'failed', attempts: 10, next_at: null, error: 'It answered HTTP 404.' },
    ]);
  });

  test('[O8] an attempt of a gateway that died is repeated with the same id', async () => {
    await using site = await startWebSite();
    const target = targetTo(webhookTo(site.url), { name: 'crashed' });
    const callId = await openCall(world, await world.agent());
    await planNotifications(world.services, new Map([[target.name, target]]));
    const taken = await world.in((tx) => takeDue(tx, { target: target.name, limit: 5, timeoutMs: 10_000 }));
    expect(await rowsOf(world, { callId })).toMatchObject([{ status: 'pending', attempts: 1 }]);
    await makeDue(world);
    await using next = deliver(otherWorld, [target], { allow: [site.host] });
    await next.send();
    expect(await rowsOf(world, { callId })).toMatchObject([{ status: 'sent', attempts: 2 }]);
    expect(ids(site)).toEqual(taken.map(({ id }) => id));
  });

  test('[O8] an attempt that a stop breaks off does not count, and is made again at once, also the last one', async () => {
    await using site = await startWebSite((_request, response) => {
      if (site.requests.length > 1) response.end();
    });
    const target = targetTo(webhookTo(site.url), { name: 'stopped' });
    const callId = await openCall(world, await world.agent());
    {
      await using stopping = deliver(world, [target], { allow: [site.host] });
      await planNotifications(world.services, new Map([[target.name, target]]));
      await world.in((tx) =>
        tx.db.updateTable('notifications').set({ attempts: 9 }).where('call_id', '=', callId).execute(),
      );
      await stopping.deliveries.tick();
      await waitFor(() => site.requests[0]);
    }
    await using next = deliver(otherWorld, [target], { allow: [site.host] });
    await next.send();
    expect(await rowsOf(world, { callId })).toMatchObject([{ status: 'sent', attempts: 10 }]);
    expect(new Set(ids(site)).size).toBe(1);
  });

  test('[O8] no notification is sent for a call that was answered before', async () => {
    await using site = await startWebSite((_request, response) => response.writeHead(503).end());
    await using gateway = deliver(world, [targetTo(webhookTo(site.url), { name: 'late' })], { allow: [site.host] });
    const callId = await openCall(world, await world.agent());
    await gateway.send();
    await world.in((tx) =>
      tx.db.updateTable('calls').set({ wait_status: 'resolved' }).where('id', '=', callId).execute(),
    );
    await makeDue(world);
    await gateway.send();
    expect(site.requests).toHaveLength(1);
    expect(await rowsOf(world, { callId })).toMatchObject([{ status: 'obsolete', next_at: null }]);
  });

  test('[O8] a person who may no longer answer a call does not get its question', async () => {
    await using site = await startWebSite((_request, response) => response.writeHead(503).end());
    const agentId = await world.agent();
    const ada = await world.person('Ada');
    const spaceId = await world.space('Desk', [agentId, ada]);
    const target = targetTo(webhookTo(site.url), { name: 'left', recipient: { id: ada } });
    await using gateway = deliver(world, [target], { allow: [site.host] });
    const callId = await openCall(world, agentId, { spaceId, kind: 'result', input: { question: 'Which bank?' } });
    await gateway.send();
    expect(site.requests).toHaveLength(1);
    await world.in((tx) => removeMember(tx, { spaceId, entityId: ada }));
    await makeDue(world);
    await gateway.send();
    expect(site.requests).toHaveLength(1);
    expect(await rowsOf(world, { callId })).toMatchObject([{ status: 'obsolete', next_at: null }]);
  });

  test('[O8] a call that is about to expire is sent again, in the last hour or the second half of its time', async () => {
    await using site = await startWebSite();
    await using gateway = deliver(world, [targetTo(webhookTo(site.url), { name: 'urgent' })], { allow: [site.host] });
    const expiresAt = Date.now() + 7_000_000;
    const callId = await openCall(world, await world.agent(), { expiresAt });
    await gateway.send();
    const events = () => site.requests.map(({ body }) => JSON.parse(body).type);
    expect(events()).toEqual(['call.waiting']);
    const [noted] = await world.store.db
      .selectFrom('notify_events')
      .selectAll()
      .where('call_id', '=', callId)
      .execute();
    expect(noted).toMatchObject({ event: 'call.expiring', due_at: expect.any(Number) });
    expect(Math.abs((noted?.due_at ?? 0) - (expiresAt - 3_500_000))).toBeLessThan(10_000);
    await world.in((tx) =>
      tx.db
        .updateTable('calls')
        .set({ expires_at: Date.now() + 60_000 })
        .where('id', '=', callId)
        .execute(),
    );
    await world.in((tx) =>
      tx.db.updateTable('notify_events').set({ due_at: 1 }).where('call_id', '=', callId).execute(),
    );
    await gateway.send();
    expect(events()).toEqual(['call.waiting', 'call.expiring']);
  });

  test('[O8] jobs of workers are not sent to people', async () => {
    await using site = await startWebSite();
    await using gateway = deliver(world, [targetTo(webhookTo(site.url), { name: 'jobless' })], { allow: [site.host] });
    const bot = await world.agent();
    await openCall(world, bot, { kind: 'result', isJob: true, spaceId: await world.space('Lobby', [bot]) });
    await gateway.send();
    expect(site.requests).toEqual([]);
  });

  test('[O8] failures of an agent are sent at most once in ten minutes', async () => {
    await using site = await startWebSite();
    await using gateway = deliver(world, [targetTo(webhookTo(site.url), { name: 'failures' })], { allow: [site.host] });
    const [agentId, other] = [await world.agent('Clumsy'), await world.agent('Unlucky')];
    for (const failing of [agentId, agentId, other]) {
      await world.in((tx) => noteFailure(tx, { agentId: failing, runId: newId() }));
      await gateway.send();
    }
    expect(site.requests.map(({ body }) => JSON.parse(body).title)).toEqual(['Clumsy failed', 'Unlucky failed']);
  });

  test('[O8] failures that two gateways look at together are sent once for each agent', async () => {
    const name = 'together';
    const targets = new Map([[name, targetTo(webhookTo('http://127.0.0.1:9'), { name })]]);
    const agents: string[] = [];
    for (let count = 0; count < 50; count++) agents.push(await world.agent());
    // One gateway takes the first failures of all agents, and the other one the second ones.
    for (const _failure of ['first', 'second'])
      await world.in(async (tx) => {
        for (const agentId of agents) await noteFailure(tx, { agentId, runId: newId() });
      });
    await Promise.all([world, otherWorld].map(({ services }) => planNotifications(services, targets)));
    expect(await rowsOf(world, { target: name })).toHaveLength(agents.length);
  });

  test('[O8] each target that wants it is told of a failure', async () => {
    await using site = await startWebSite();
    const targets = ['first', 'second'].map((name) => targetTo(webhookTo(site.url), { name }));
    await using gateway = deliver(world, targets, { allow: [site.host] });
    const agentId = await world.agent('Clumsy');
    await world.in((tx) => noteFailure(tx, { agentId, runId: newId() }));
    await gateway.send();
    for (const target of ['first', 'second'])
      expect(await rowsOf(world, { target })).toMatchObject([{ event: 'agent.failed' }]);
  });

  test('[O8] a call that got a later end is not sent as one that is about to expire, nor a question that was asked anew', async () => {
    await using site = await startWebSite();
    await using gateway = deliver(world, [targetTo(webhookTo(site.url), { name: 'later' })], { allow: [site.host] });
    const callId = await openCall(world, await world.agent(), { expiresAt: Date.now() + 7_000_000 });
    await gateway.send();
    await world.in(async (tx) => {
      const later = tx.db.updateTable('calls').set({ expires_at: Date.now() + 50_000_000 });
      await later.where('id', '=', callId).execute();
      await tx.db.updateTable('notify_events').set({ due_at: 1 }).where('call_id', '=', callId).execute();
    });
    const question = await openCall(world, await world.agent(), { kind: 'input' });
    await world.in((tx) => tx.db.updateTable('calls').set({ rounds: 2 }).where('id', '=', question).execute());
    await gateway.send();
    expect(site.requests.map(({ body }) => JSON.parse(body).type)).toEqual(['call.waiting']);
    expect(await rowsOf(world, { callId: question })).toEqual([]);
  });

  test('[O8] the end of an attempt that another gateway has repeated meanwhile changes nothing', async () => {
    await using gateway = deliver(world, [targetTo(webhookTo('http://127.0.0.1:9'), { name: 'twice' })]);
    const callId = await openCall(world, await world.agent());
    await gateway.send();
    const attempt = async () => {
      await makeDue(world);
      const [row] = await world.in((tx) => takeDue(tx, { target: 'twice', limit: 5, timeoutMs: 1_000 }));
      return row as NonNullable<typeof row>;
    };
    const [late, current] = [await attempt(), await attempt()];
    await world.in((tx) => endAttempt(tx, late, { kind: 'failed', error: 'Late.' }));
    expect(await rowsOf(world, { callId })).toMatchObject([{ attempts: 3, next_at: current.next_at }]);
    expect((await rowsOf(world, { callId }))[0]?.error).not.toBe('Late.');
    // A target cannot put the next attempt off for longer than an hour.
    await world.in((tx) => endAttempt(tx, current, { kind: 'failed', error: 'Now.', retryAfterMs: 86_400_000 }));
    const [row] = await rowsOf(world, { callId });
    expect(row).toMatchObject({ status: 'pending', error: 'Now.' });
    expect((row?.next_at ?? 0) - Date.now()).toBeGreaterThan(3_000_000);
    expect((row?.next_at ?? 0) - Date.now()).toBeLessThan(4_000_000);
  });

  test('[O8] nothing is sent about an agent that was deleted meanwhile', async () => {
    await using site = await startWebSite();
    await using gateway = deliver(world, [targetTo(webhookTo(site.url), { name: 'deleted' })], { allow: [site.host] });
    const agentId = await world.agent('Gone');
    await world.in((tx) => noteFailure(tx, { agentId, runId: newId() }));
    await world.in((tx) => tx.db.updateTable('agents').set({ status: 'deleted' }).where('id', '=', agentId).execute());
    await gateway.send();
    expect(site.requests).toEqual([]);
    expect(await rowsOf(world, { target: 'deleted' })).toMatchObject([{ status: 'obsolete' }]);
  });

  test('[O1] [O8] a target gets only events of agents of its own project that it names', async () => {
    await using site = await startWebSite();
    await world.in((tx) => createProject(tx, { id: 'acme', name: 'Acme' }));
    const theirs = await world.in((tx) =>
      createAgent(tx, { config: { name: 'Clerk', instructions: '' }, project: 'acme' }),
    );
    const ours = await world.agent('Clerk');
    const unnamed = await world.agent('Other');
    const at = (path: string) => webhookTo(`${site.url}/${path}`);
    const targets = [
      targetTo(at('default'), { name: 'p-default', agents: ['Clerk'] }),
      targetTo(at('acme'), { name: 'p-acme', project: 'acme' }),
    ];
    await using gateway = deliver(world, targets, { allow: [site.host] });
    const calls: Record<string, string> = {};
    for (const agentId of [theirs.id, ours, unnamed]) calls[agentId] = await openCall(world, agentId);
    await gateway.send();
    const told = site.requests.map(({ url, body }) => [url, JSON.parse(body).call.id]);
    expect(told.sort()).toEqual([
      ['/acme', calls[theirs.id]],
      ['/default', calls[ours]],
    ]);
  });

  test('[O8] a target of a person gets the calls that this person may answer', async () => {
    await using site = await startWebSite();
    const ada = await world.person('Ada');
    const agentId = await world.agent();
    const target = targetTo(webhookTo(site.url), { name: 'ada', recipient: { id: ada } });
    await using gateway = deliver(world, [target], { allow: [site.host] });
    const hers = await openCall(world, agentId, { answeredBy: { entities: [ada] } });
    await openCall(world, agentId, { answeredBy: { entities: [await world.person('Ben')] } });
    await gateway.send();
    expect(site.requests.map(({ body }) => JSON.parse(body).call.id)).toEqual([hers]);
    expect(JSON.parse(site.requests[0]?.body ?? '').link).toMatchObject({
      url: expect.stringContaining(`${BASE_URL}/card#`),
      expiresAt: expect.any(Number),
    });
    expect(await rowsOf(world, { callId: hers })).toMatchObject([{ entity_id: ada, link_used_at: null }]);
  });

  test('[O8] a person who does not exist in the project is a visible failure', async () => {
    await using site = await startWebSite();
    const target = targetTo(webhookTo(site.url), { name: 'nameless', recipient: { externalId: 'no-such-person' } });
    await using gateway = deliver(world, [target], { allow: [site.host] });
    const callId = await openCall(world, await world.agent());
    await gateway.send();
    expect(await rowsOf(world, { callId })).toMatchObject([
      { status: 'failed', error: 'The person of the target does not exist.' },
    ]);
  });

  test('[O8] the number of notifications that wait for a target is limited, and further ones are visible failures', async () => {
    const full = world.with({ pendingNotifications: 2 });
    await using gateway = deliver(full, [targetTo(webhookTo('http://127.0.0.1:9'), { name: 'full' })]);
    const agentId = await world.agent();
    for (let count = 0; count < 4; count++) await openCall(world, agentId);
    await gateway.send();
    const rows = await rowsOf(world, { target: 'full' });
    expect(rows.map(({ status }) => status).sort()).toEqual(['failed', 'failed', 'pending', 'pending']);
    expect(rows.find(({ status }) => status === 'failed')?.error).toBe('Too many notifications wait for the target.');
  });

  test('[O8] without targets nothing is stored', async () => {
    const none = world.with({ pendingNotifications: 0 });
    const callId = await openCall(none, await world.agent());
    const noted = world.store.db.selectFrom('notify_events').selectAll().where('call_id', '=', callId);
    expect(await noted.execute()).toEqual([]);
  });

  test('[O8] notifications are deleted after notificationDays', async () => {
    await using site = await startWebSite();
    await using gateway = deliver(world, [targetTo(webhookTo(site.url), { name: 'old' })], { allow: [site.host] });
    const callId = await openCall(world, await world.agent());
    await gateway.send();
    await sweepNotifications(world.services);
    expect(await rowsOf(world, { callId })).toHaveLength(1);
    await sweepNotifications(world.services, { now: Date.now() + 31 * 86_400_000 });
    expect(await rowsOf(world, { callId })).toEqual([]);
  });

  test('[O8] people who may answer a call and have an address get one notification each', async () => {
    const person = async (displayName: string, email?: string) =>
      (
        await world.in((tx) =>
          createEntity(tx, { kind: 'human', displayName, metadata: email === undefined ? {} : { email } }),
        )
      ).id;
    const ada = await person('Ada', 'ada@example.com');
    const ben = await person('Ben', 'ben@example.com');
    const [mute, odd] = [await person('Mute'), await person('Odd', 'x@example.com, y@example.com')];
    await person('Stranger', 'stranger@example.com');
    const agentId = await world.agent();
    const spaceId = await world.space('Office', [ada, ben, mute, odd]);
    const channel = { kind: 'email', host: '127.0.0.1', port: 9, tls: 'none', from: 'l@example.com' } as const;
    const target = targetTo({ ...channel, login: undefined, to: undefined }, { name: 'all', recipient: 'answerers' });
    await using gateway = deliver(world, [target]);
    const [open, named] = [
      await openCall(world, agentId, { spaceId }),
      await openCall(world, agentId, { spaceId, answeredBy: { entities: [ben] } }),
    ];
    await gateway.send();
    expect((await rowsOf(world, { callId: open })).map(({ entity_id }) => entity_id).sort()).toEqual([ada, ben].sort());
    expect((await rowsOf(world, { callId: named })).map(({ entity_id }) => entity_id)).toEqual([ben]);
  });
});

describeIdleWorld('notifications to the people of a large space', ({ world }) => {
  test('[O8] those who may answer and have an address are found among any number of members, and at most 50 are told', async () => {
    const people = async (count: number, email: string | undefined): Promise<string[]> => {
      const made: string[] = [];
      const metadata = email === undefined ? {} : { email };
      for (let at = 0; at < count; at++)
        made.push((await world.in((tx) => createEntity(tx, { kind: 'human', displayName: `P${at}`, metadata }))).id);
      return made;
    };
    const silent = await people(60, undefined);
    const readers = await people(60, 'reader@example.com');
    const [host = ''] = await people(1, 'host@example.com');
    const agentId = await world.agent();
    const spaceId = await world.space('Hall', [...silent, ...readers]);
    await world.in((tx) => addMember(tx, { spaceId, entityId: host, role: 'host' }));
    const channel = { kind: 'email', host: '127.0.0.1', port: 9, tls: 'none', from: 'l@example.com' } as const;
    const target = targetTo({ ...channel, login: undefined, to: undefined }, { name: 'hall', recipient: 'answerers' });
    await using gateway = deliver(world, [target]);
    const hosts = await openCall(world, agentId, { spaceId, answeredBy: { roles: ['host'] } });
    const everyone = await openCall(world, agentId, { spaceId });
    await gateway.send();
    expect((await rowsOf(world, { callId: hosts })).map(({ entity_id }) => entity_id)).toEqual([host]);
    const told = (await rowsOf(world, { callId: everyone })).map(({ entity_id }) => entity_id ?? '');
    expect([told.length, new Set(told).size, told.every((id) => readers.includes(id))]).toEqual([50, 50, true]);
  });
});

describeIdleWorld('notifications to targets that are down, slow or hostile', ({ world }) => {
  const errorOf = async (callId: string) => (await rowsOf(world, { callId }))[0]?.error;

  test('[O8] a target that is down is retried', async () => {
    await using gateway = deliver(world, [targetTo(webhookTo('http://127.0.0.1:9'), { name: 'down' })], {
      allow: ['127.0.0.1:9'],
    });
    const callId = await openCall(world, await world.agent());
    await gateway.send();
    expect(await rowsOf(world, { callId })).toMatchObject([
      { status: 'pending', error: 'It could not be reached (ECONNREFUSED).' },
    ]);
  });

  test('[O13] a target that never answers delays neither the sweep nor another target', async () => {
    await using slow = await startWebSite(() => {});
    await using quick = await startWebSite();
    const targets = [
      targetTo(webhookTo(slow.url), { name: 'slow' }),
      targetTo(webhookTo(quick.url), { name: 'quick' }),
    ];
    await using gateway = deliver(world, targets, { allow: [slow.host, quick.host], timeoutMs: 600_000 });
    const agentId = await world.agent();
    for (let count = 0; count < 12; count++) {
      const callId = await openCall(world, agentId);
      await gateway.deliveries.tick();
      await waitFor(async () => (await rowsOf(world, { callId })).some(({ status }) => status === 'sent'));
    }
    expect(quick.requests).toHaveLength(12);
    // One loop of the slow target is active, with the notifications that it claimed first.
    expect(slow.requests.length).toBeLessThanOrEqual(5);
  });

  test('[O8] an attempt ends at its timeout', async () => {
    await using slow = await startWebSite(() => {});
    await using gateway = deliver(world, [targetTo(webhookTo(slow.url), { name: 'silent' })], {
      allow: [slow.host],
      timeoutMs: 200,
    });
    const callId = await openCall(world, await world.agent());
    await gateway.send();
    expect(await errorOf(callId)).toBe('It did not answer within 0.2 s.');
  });

  test('[O8] a redirect is not followed, wherever it leads', async () => {
    await using inside = await startWebSite();
    await using site = await startWebSite((_request, response) =>
      response.writeHead(307, { location: `${inside.url}/admin` }).end(),
    );
    await using gateway = deliver(world, [targetTo(webhookTo(site.url), { name: 'bouncing' })], {
      allow: [site.host, inside.host],
    });
    const callId = await openCall(world, await world.agent());
    await gateway.send();
    expect(inside.requests).toEqual([]);
    expect(await errorOf(callId)).toContain('it redirects');
  });

  test('[O8] an internal address is refused without a connection', async () => {
    await using inside = await startWebSite();
    await using gateway = deliver(world, [targetTo(webhookTo(inside.url), { name: 'inside' })]);
    const callId = await openCall(world, await world.agent());
    await gateway.send();
    expect(inside.sockets.size + inside.requests.length).toBe(0);
    expect(await errorOf(callId)).toContain('is refused: loopback');
  });

  test('[O8] an answer of 50 MB is not read', async () => {
    let written = 0;
    let isOver = false;
    function* pieces() {
      for (; written < 50_000_000; written += 65_536) yield Buffer.alloc(65_536);
    }
    await using site = await startWebSite(async (_request, response) => {
      await pipeline(Readable.from(pieces()), response).catch(() => {});
      isOver = true;
    });
    await using gateway = deliver(world, [targetTo(webhookTo(site.url), { name: 'flood' })], { allow: [site.host] });
    const callId = await openCall(world, await world.agent());
    await gateway.send();
    expect(await rowsOf(world, { callId })).toMatchObject([{ status: 'sent' }]);
    await waitFor(() => isOver);
    expect(written).toBeLessThan(50_000_000);
  });
});
