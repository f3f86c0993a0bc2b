import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway, waitFor } from '../../src/testing/index.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { databases, locationOf } from '../support/stores.ts';
import { bodyOf, hookConfig, post, SCHEMES, SECRETS, type Sent, send } from './senders.ts';

interface Item {
  readonly eventId: string;
  readonly event: { readonly source: string; readonly name: string; readonly data: Record<string, unknown> };
}

async function inboxOf(gateway: Pick<TestGateway, 'api'>): Promise<readonly Item[]> {
  const [{ id }] = (await gateway.api('/api/agents')).items;
  return (await gateway.api(`/api/agents/${id}/inbox?limit=200`)).items;
}

const seconds = (offset: number): number => Math.floor(Date.now() / 1_000) + offset;

describe.each(databases)('incoming hooks on $kind', ({ kind, create }) => {
  const database = forAllTests(create);
  const model = scriptedModel(() => 'Noted.');
  const open = () => startTestGateway({ ...hookConfig, ...locationOf(database), model });
  const gateway = forAllTests(async () => {
    const opened = await open();
    return { ...opened, close: opened.stop };
  });

  const arrived = async (id: string): Promise<readonly Item[]> =>
    (await inboxOf(gateway)).filter(({ eventId }) => eventId.endsWith(`:${id}`));
  const count = async (): Promise<number> => (await inboxOf(gateway)).length;

  test.each(SCHEMES)(
    '[O7] a signed event of %s reaches the inbox once, and a replay is answered and not stored',
    async (scheme) => {
      const id = `evt_${scheme}_1`;
      const sent = send(scheme, { id });
      expect(await post(gateway.url, scheme, sent)).toMatchObject({
        status: 200,
        json: { ok: true, duplicate: false },
      });
      expect((await post(gateway.url, scheme, sent)).json).toEqual({ ok: true, duplicate: true });
      // The service signs a repetition again, at another time.
      const again = send(scheme, { id, time: seconds(-60) });
      expect((await post(gateway.url, scheme, again)).json).toEqual({ ok: true, duplicate: true });
      const [event, ...others] = await arrived(id);
      expect(others).toEqual([]);
      const names = { standard: 'order.paid', github: 'issues', stripe: 'invoice.paid', slack: 'app_mention' };
      const { token: _token, ...data } = bodyOf(scheme, id) as Record<string, unknown>;
      expect(event).toMatchObject({
        eventId: `hook:${scheme}:${id}`,
        event: { type: 'service', source: scheme, name: names[scheme], data },
      });
      expect(event?.event.data).not.toHaveProperty('token');
    },
  );

  test('[O11] the audit has an entry for an event of a hook, and none for its repetition', async () => {
    const entries = async () => (await gateway.api('/api/audit?action=post_hooks_name&limit=200')).items;
    const before = (await entries()).length;
    const sent = send('github', { id: 'evt_audited' });
    for (let time = 0; time < 2; time++) await post(gateway.url, 'github', sent);
    const [newest, ...others] = await entries();
    expect(others).toHaveLength(before);
    const [{ id }] = (await gateway.api('/api/agents')).items;
    expect(newest).toMatchObject({ subject: { kind: 'agent', id }, actor: {}, status: 200 });
  });

  test.each(SCHEMES)('[O7] an event of %s with an id that was used for another body is refused', async (scheme) => {
    const id = `evt_${scheme}_2`;
    await post(gateway.url, scheme, send(scheme, { id }));
    const other = send(scheme, { id, body: bodyOf(scheme, id, { data: 'other', action: 'closed' }) });
    const { status, json } = await post(gateway.url, scheme, other);
    expect([status, json.error.code]).toEqual([422, 'idempotency_key_reused']);
    const [event, ...others] = await arrived(id);
    expect(others).toEqual([]);
    expect(JSON.stringify(event)).not.toContain('other');
  });

  test.each(SCHEMES)(
    '[O7] an event of %s with numbers that are too large arrives with them as texts',
    async (scheme) => {
      const id = `evt_${scheme}_large`;
      const said = { 'a "1e999, ': 'x 99999999999999999999 \\', mass: 6.02e23, exact: 9007199254740991, cost: 1.5 };
      const text = JSON.stringify(bodyOf(scheme, id, { said })).replace(
        '"exact":',
        '"ids":[1234567890123456789,-1e400],"exact":',
      );
      const sent = () => send(scheme, { id, body: Buffer.from(text) });
      expect((await post(gateway.url, scheme, sent())).json).toEqual({ ok: true, duplicate: false });
      expect((await post(gateway.url, scheme, sent())).json).toEqual({ ok: true, duplicate: true });
      const [event] = await arrived(id);
      expect(event?.event.data.said).toEqual({ ...said, mass: '6.02e+23', ids: ['1234567890123456789', '-1e400'] });
    },
  );

  test('[O7] a repetition is recognized also if its body has names with escapes, which V8 may misread', async () => {
    // After these, JSON.parse of Node 24 may read "\\n" as "\\\\" in objects that begin in the same way.
    const kept = ['{"a":1,"\\\\":2}', '{"a":1,"\\\\n":2}'].map((text) => JSON.parse(text));
    const id = 'evt_escaped';
    const sent = send('github', { id, body: bodyOf('github', id, { details: { a: 1, '\n': 2 } }) });
    for (const duplicate of [false, true])
      expect((await post(gateway.url, 'github', sent)).json).toEqual({ ok: true, duplicate });
    expect(await arrived(id)).toHaveLength(1);
    expect(kept).toHaveLength(2);
  });

  test('[O7] Stripe counts the hooks that have not answered in the event: a repetition may have another number', async () => {
    const id = 'evt_counted';
    await post(gateway.url, 'stripe', send('stripe', { id }));
    const again = send('stripe', { id, body: bodyOf('stripe', id, { pending_webhooks: 3 }) });
    expect((await post(gateway.url, 'stripe', again)).json).toEqual({ ok: true, duplicate: true });
  });

  test.each(SCHEMES)('[O7] a forged event of %s is refused, and nothing is stored', async (scheme) => {
    const before = await count();
    const good = send(scheme);
    const changed = new Uint8Array(Buffer.from(JSON.stringify(bodyOf(scheme, 'evt_forged', { more: 1 }))));
    const cut = Object.fromEntries(
      Object.entries(good.headers).map(([name, value]) => [
        name,
        name.includes('signature') ? value.slice(0, 20) : value,
      ]),
    );
    const noSignature = Object.fromEntries(
      Object.entries(good.headers).filter(([name]) => !name.includes('signature')),
    );
    const forged: readonly Sent[] = [
      send(scheme, { secret: `${SECRETS[scheme]}x1`.replace('whsec_', 'whsec_AAAA') }),
      { ...good, body: changed },
      { ...good, headers: cut },
      { ...good, headers: noSignature },
      { ...good, headers: { ...noSignature, authorization: `Bearer ${gateway.secretKey}` } },
    ];
    for (const one of forged) {
      const { status, json } = await post(gateway.url, scheme, one);
      expect([status, json.error.code]).toEqual([401, 'invalid_signature']);
    }
    expect(await count()).toBe(before);
  });

  test.each(SCHEMES.filter((scheme) => scheme !== 'github'))(
    '[O7] an event of %s is accepted within five minutes of our clock, and neither later nor earlier',
    async (scheme) => {
      for (const offset of [-290, 290])
        expect((await post(gateway.url, scheme, send(scheme, { time: seconds(offset) }))).status).toBe(200);
      const before = await count();
      for (const offset of [-310, 310]) {
        const { status, json } = await post(gateway.url, scheme, send(scheme, { time: seconds(offset) }));
        expect([status, json.error.code]).toEqual([401, 'invalid_signature']);
        expect(json.error.message).toContain('5 minutes');
      }
      expect(await count()).toBe(before);
    },
  );

  test.each(SCHEMES)(
    '[O7] signed bodies of %s that are not UTF-8, not JSON, no object or too large are refused',
    async (scheme) => {
      const before = await count();
      const bodies: readonly (readonly [Uint8Array, number, string])[] = [
        [Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), 400, 'invalid_utf8'],
        [Buffer.from('{"id":"evt_x",'), 400, 'invalid_json'],
        [Buffer.from(''), 400, 'invalid_json'],
        [Buffer.from('[1]'), 422, 'invalid_request'],
        [Buffer.from(`{"id":"evt_x","event_id":"e","text":"${'x'.repeat(300_000)}"}`), 413, 'too_large'],
        [Buffer.from(`{"text":"${'x'.repeat(1_100_000)}"}`), 413, 'body_too_large'],
        [Buffer.from(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`), 400, 'too_deep'],
      ];
      for (const [body, status, code] of bodies) {
        const answer = await post(gateway.url, scheme, send(scheme, { body }));
        expect([answer.status, answer.json.error.code]).toEqual([status, code]);
      }
      const form = send(scheme);
      const asForm = { ...form, headers: { ...form.headers, 'content-type': 'application/x-www-form-urlencoded' } };
      expect((await post(gateway.url, scheme, asForm)).status).toBe(415);
      expect(await count()).toBe(before);
    },
  );

  test('[O7] an event without an id is refused', async () => {
    const before = await count();
    for (const sent of [
      send('stripe', { body: { type: 'x' } }),
      send('stripe', { body: { id: 'x'.repeat(129), type: 'x' } }),
    ])
      expect((await post(gateway.url, 'stripe', sent)).status).toBe(422);
    expect(await count()).toBe(before);
  });

  test("[O7] Slack's challenge and GitHub's ping are answered if they are signed, and are not events", async () => {
    const before = await count();
    const challenge = send('slack', { body: { type: 'url_verification', token: 't', challenge: 'abc' } });
    expect(await post(gateway.url, 'slack', challenge)).toMatchObject({ status: 200, json: { challenge: 'abc' } });
    const forged = send('slack', {
      body: { type: 'url_verification', challenge: 'abc' },
      secret: 'another secret of Slack',
    });
    expect((await post(gateway.url, 'slack', forged)).status).toBe(401);
    expect((await post(gateway.url, 'github', send('github', { event: 'ping', body: { zen: 'x' } }))).status).toBe(200);
    expect(await count()).toBe(before);
  });

  test('[O7] an event that two gateways receive many times at once is stored once', async () => {
    // SQLite has one gateway.
    const second = kind === 'postgres' ? await open() : undefined;
    try {
      for (const scheme of SCHEMES) {
        const id = `evt_${scheme}_at_once`;
        const sent = send(scheme, { id });
        const urls = Array.from({ length: 10 }, (_, index) =>
          index % 2 === 0 ? gateway.url : (second ?? gateway).url,
        );
        const answers = await Promise.all(urls.map((url) => post(url, scheme, sent)));
        expect(answers.filter(({ json }) => json.duplicate === false)).toHaveLength(1);
        expect(answers.every(({ status }) => status === 200)).toBe(true);
        expect(await arrived(id)).toHaveLength(1);
      }
    } finally {
      await second?.stop();
    }
  });

  test('[O7] the agent reads the event, with the name of the hook as its source', async () => {
    await post(gateway.url, 'github', send('github', { body: { action: 'opened', title: 'It does not stop.' } }));
    const prompts = () => JSON.stringify(model.requests.map(({ prompt }) => prompt));
    await waitFor(() => prompts().includes('It does not stop.'));
    expect(prompts()).toContain('service github, issues');
  });

  test('[O7] no answer tells anything about the agent, and a hook that does not exist is not found', async () => {
    const [{ id }] = (await gateway.api('/api/agents')).items;
    const unknown = await post(gateway.url, 'none', send('github'));
    expect(unknown).toMatchObject({ status: 404, json: { error: { message: 'There is no hook "none".' } } });
    const texts = [unknown.text];
    for (const scheme of SCHEMES)
      for (const sent of [send(scheme), send(scheme, { secret: 'whsec_another_secret' })])
        texts.push((await post(gateway.url, scheme, sent)).text);
    for (const text of texts) {
      expect(text).not.toContain(id);
      expect(text).not.toContain('Clerk');
    }
  });

  test('[O7] callers with a key cannot take the id of an event of a hook', async () => {
    const [{ id }] = (await gateway.api('/api/agents')).items;
    const body = { source: 's', name: 'n', eventId: 'hook:github:1' };
    expect((await gateway.request(`/api/agents/${id}/events`, body)).status).toBe(422);
  });
});
