import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { signWebhook, verifyWebhook } from '../../src/domain/calls/webhook-signature.ts';
import { startCaller } from '../http-tools/caller.ts';
import { startWebSite } from '../support/web-site.ts';

const KEY = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const NEW_KEY = `whsec_${Buffer.from('another key of twenty-four').toString('base64')}`;
const NOW = 1_614_265_330_000;
const signed = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}', secrets: [KEY], now: NOW };

const verify = (headers: object, more: object = {}) =>
  verifyWebhook({
    headers: headers as Record<string, string>,
    body: signed.body,
    secrets: [KEY],
    isNew: () => true,
    now: NOW,
    ...more,
  });

describe('a signed webhook', () => {
  test('[X11] has the signature of the example in the specification', () => {
    expect(signWebhook(signed)).toEqual({
      'webhook-id': signed.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  test('[X11] is accepted by a receiver with the key, with any content', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.stringMatching(/^[\w-]+$/), async (body, id) => {
        const secrets = [`whsec_${randomBytes(24).toString('base64')}`];
        expect(await verify(signWebhook({ id, body, secrets, now: NOW }), { body, secrets })).toEqual({ ok: true, id });
      }),
    );
  });

  test('[X11] of another key, body, id or time is refused', async () => {
    const headers = signWebhook(signed);
    const problem = { ok: false, problem: 'No known key has signed it.' };
    expect(await verify(headers, { secrets: [NEW_KEY] })).toEqual(problem);
    expect(await verify(headers, { secrets: [] })).toEqual(problem);
    expect(await verify(headers, { body: `${signed.body} ` })).toEqual(problem);
    expect(await verify({ ...headers, 'webhook-id': 'msg_other' })).toEqual(problem);
    expect(await verify({ ...headers, 'webhook-timestamp': '1614265331' })).toEqual(problem);
    const [, hash] = headers['webhook-signature'].split(',');
    for (const signature of ['', 'v1', 'v1,', 'v1,x', `v2,${hash}`, `v1a,${hash}`, hash, `v1,${hash?.slice(0, 20)}`])
      expect(await verify({ ...headers, 'webhook-signature': signature }), signature).toEqual(problem);
  });

  test('[X11] is accepted within five minutes before and after the local time', async () => {
    const headers = signWebhook(signed);
    for (const seconds of [-300, 0, 300])
      expect(await verify(headers, { now: NOW + seconds * 1_000 })).toMatchObject({ ok: true });
    for (const seconds of [-301, 301])
      expect(await verify(headers, { now: NOW + seconds * 1_000 })).toMatchObject({ ok: false });
  });

  test.each([
    '1614265330abc',
    ' 1614265330',
    '1614265330.0',
    '1.614265330e9',
    '0x60379A32',
    '',
    '-1',
    '99999999999999',
  ])('[X11] with the time %j is refused', async (time) => {
    expect(await verify({ ...signWebhook(signed), 'webhook-timestamp': time })).toEqual({
      ok: false,
      problem: 'webhook-timestamp must be a number of seconds.',
    });
  });

  test('[X11] is accepted once, and a forged one does not use its id up', async () => {
    const seen = new Set<string>();
    const isNew = (id: string): boolean => !seen.has(id) && seen.add(id).has(id);
    const headers = signWebhook(signed);
    expect(await verify({ ...headers, 'webhook-signature': 'v1,AAAA' }, { isNew })).toMatchObject({ ok: false });
    expect(seen.size).toBe(0);
    expect(await verify(headers, { isNew })).toEqual({ ok: true, id: signed.id });
    expect(await verify(headers, { isNew })).toEqual({ ok: false, problem: 'It has been received before.' });
  });

  test('[X11] is signed by the old and the new key while keys are replaced, and either verifies it', async () => {
    const headers = signWebhook({ ...signed, secrets: [NEW_KEY, KEY] });
    for (const secrets of [[KEY], [NEW_KEY], [KEY, NEW_KEY]])
      expect(await verify(headers, { secrets })).toMatchObject({ ok: true });
    expect(await verify(signWebhook(signed), { secrets: [NEW_KEY, KEY] })).toMatchObject({ ok: true });
  });

  test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])(
    '[X11] without %s, or with two of it, is refused',
    async (name) => {
      const headers = signWebhook(signed);
      for (const value of [undefined, ['a', 'b']])
        expect(await verify({ ...headers, [name]: value })).toMatchObject({
          ok: false,
          problem: expect.stringContaining('each once'),
        });
    },
  );
});

test('[X11] a tool with a webhook and signing keys signs each request, and the receiver can verify it', async () => {
  await using site = await startWebSite(({ url }, response) =>
    url === '/busy' && site.requests.length === 1 ? response.writeHead(503).end() : response.end('[]'),
  );
  await using caller = await startCaller(
    {
      executionType: 'external',
      idempotent: true,
      inputSchema: { type: 'object', properties: { order: { type: 'integer' } } },
      execution: { webhookUrl: `${site.url}/busy`, signingSecret: ['${env.HOOK_NEW}', '${env.HOOK_OLD}'] },
    },
    { egress: { allow: [site.host] }, secrets: ['HOOK_NEW', 'HOOK_OLD'], env: { HOOK_NEW: NEW_KEY, HOOK_OLD: KEY } },
  );
  expect((await caller.call({ order: 7 })).outcome).toMatchObject({ status: 'ok' });
  expect(site.requests).toHaveLength(2);
  const ids = site.requests.map(({ headers }) => headers['webhook-id']);
  expect(ids).toEqual(site.requests.map(({ headers }) => headers['idempotency-key']));
  expect(new Set(ids).size).toBe(1);
  for (const { headers, body } of site.requests)
    for (const secret of [NEW_KEY, KEY])
      expect(await verifyWebhook({ headers, body, secrets: [secret], isNew: () => true })).toEqual({
        ok: true,
        id: ids[0],
      });
});
