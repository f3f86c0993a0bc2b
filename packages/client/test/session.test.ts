import { startTestGateway } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { ClientError, createClient } from '../src/index.ts';

/** A fetch like that of a page at this address: with its cookies, and with the headers that browsers set. */
function fetchOfPage(origin: string): { fetch: typeof fetch; sent: { path: string; credentials: unknown }[] } {
  let cookie = '';
  const sent: { path: string; credentials: unknown }[] = [];
  const send: typeof fetch = async (input, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set('sec-fetch-site', 'same-origin');
    headers.set('origin', origin);
    if (init.credentials === 'same-origin' && cookie !== '') headers.set('cookie', cookie);
    sent.push({ path: new URL(String(input)).pathname, credentials: init.credentials });
    const response = await fetch(input, { ...init, headers });
    for (const one of response.headers.getSetCookie()) cookie = one.split(';')[0] ?? '';
    return response;
  };
  return { fetch: send, sent };
}

test('a page signs in with a link, acts as its person, and signs out, with nothing but its cookie', async () => {
  await using gateway = await startTestGateway({
    spaces: [{ name: 'Lobby', people: [{ name: 'Ada' }, { name: 'Ben' }] }],
  });
  const operator = createClient({ url: gateway.url, auth: { key: gateway.secretKey } });
  const [ada, ben] = (await operator.entities.list({ kind: 'human' })).items;
  const link = await operator.links.create({ entityId: ada?.id ?? '', scopes: ['admin'] });
  const page = fetchOfPage(gateway.url);
  const lastcall = createClient({ url: gateway.url, auth: 'session', fetch: page.fetch });
  await expect(lastcall.session.get()).rejects.toMatchObject({ status: 401 });
  const code = new URL(link.url).hash.slice('#in='.length);
  expect(await lastcall.session.signIn({ code })).toMatchObject({ scopes: ['admin'], entity: { displayName: 'Ada' } });
  const [space] = (await lastcall.spaces.list()).items;
  expect(await lastcall.spaces.say(space?.id ?? '', { text: 'Hello.' })).toMatchObject({ entityId: ada?.id });
  expect(await lastcall.session.actFor(ben?.id ?? '')).toMatchObject({ entity: { displayName: 'Ben' } });
  expect(await lastcall.status.get()).toMatchObject({ model: { isRehearsal: true }, counts: { agents: 0 } });
  expect((await lastcall.models.list()).items[0]).toEqual({ name: 'rehearsal', usable: true });
  const { id: revoked } = await lastcall.links.create({});
  expect((await lastcall.links.list()).items.map((one) => one.id)).toEqual([revoked]);
  expect(await lastcall.links.revoke(revoked)).toMatchObject({ id: revoked });
  expect((await lastcall.links.list()).items).toEqual([]);
  const { id } = await lastcall.session.get();
  expect((await lastcall.session.list()).items.map((one) => one.id)).toEqual([id]);
  await lastcall.session.signOut();
  await expect(lastcall.session.get()).rejects.toMatchObject({ status: 401 });
  expect(new Set(page.sent.map(({ credentials }) => credentials))).toEqual(new Set(['same-origin']));
});

test('[S10] a sign-in is sent only once, even if the gateway asks to retry later', async () => {
  await using gateway = await startTestGateway();
  const page = fetchOfPage(gateway.url);
  const lastcall = createClient({ url: gateway.url, auth: 'session', fetch: page.fetch });
  const refusals: unknown[] = [];
  for (let at = 0; at < 11; at++)
    await lastcall.session.signIn({ key: 'wrong' }).catch((error: unknown) => {
      refusals.push(error instanceof ClientError ? error.code : error);
    });
  expect(refusals).toEqual([...Array(10).fill('unauthorized'), 'too_many_attempts']);
  expect(page.sent).toHaveLength(11);
});
