import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { signToken, tokenSecret, verifyToken } from '../../src/domain/keys/tokens.ts';
import { openApi } from '../http/api.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import type { Database } from '../support/stores.ts';

const secret = randomBytes(32);
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const inAnHour = (): number => Math.floor(Date.now() / 1_000) + 3_600;

/** A hand-made token with a valid signature. */
function forge(claims: object, { header = {}, key = secret, hash = 'sha256' } = {}): string {
  const text = `${base64({ alg: 'HS256', typ: 'JWT', ...header })}.${base64(claims)}`;
  return `${text}.${createHmac(hash, key).update(text).digest('base64url')}`;
}

const claims = () => ({
  sub: 'ann',
  iss: 'lastcall',
  aud: 'lastcall-entity',
  iat: Math.floor(Date.now() / 1_000),
  exp: inAnHour(),
});

describe('entity tokens', () => {
  test('[G52] a token belongs to its entity until it expires', async () => {
    const before = Date.now();
    const { token, expiresAt } = await signToken(secret, { entityId: 'ann', expiresInSeconds: 60 });
    expect(await verifyToken(secret, token)).toEqual({ entityId: 'ann', expiresAt });
    expect(expiresAt).toBeGreaterThan(before + 58_000);
    expect(expiresAt).toBeLessThanOrEqual(Date.now() + 60_000);
  });

  test('[G52] a token lasts an hour by default', async () => {
    const { expiresAt } = await signToken(secret, { entityId: 'ann' });
    expect(Math.abs(expiresAt - Date.now() - 3_600_000)).toBeLessThan(30_000);
  });

  test.each([0, -1, 1.5, 86_401, Number.NaN, Number.POSITIVE_INFINITY])(
    '[G52] a token for %d seconds is refused',
    async (expiresInSeconds) => {
      await expect(signToken(secret, { entityId: 'ann', expiresInSeconds })).rejects.toMatchObject({
        code: 'invalid_request',
        details: { path: 'expiresInSeconds' },
      });
    },
  );

  test('[G52] a correct hand-made token is valid: the next tests change one thing in it', async () => {
    expect(await verifyToken(secret, forge(claims()))).toMatchObject({ entityId: 'ann' });
  });

  const without = (name: keyof ReturnType<typeof claims>) => {
    const { [name]: _left, ...rest } = claims();
    return rest;
  };
  test.each<[string, () => string]>([
    ['of another secret', () => forge(claims(), { key: randomBytes(32) })],
    ['for another audience', () => forge({ ...claims(), aud: 'somewhere-else' })],
    ['without an audience', () => forge(without('aud'))],
    ['by another issuer', () => forge({ ...claims(), iss: 'somebody' })],
    ['without an issuer', () => forge(without('iss'))],
    ['without an end', () => forge(without('exp'))],
    ['with an end that is no number', () => forge({ ...claims(), exp: 'never' })],
    ['without an entity', () => forge(without('sub'))],
    ['with an entity that is no text', () => forge({ ...claims(), sub: 7 })],
    ['with alg none', () => `${base64({ alg: 'none', typ: 'JWT' })}.${base64(claims())}.`],
    ['with alg none and a signature', () => forge(claims(), { header: { alg: 'none' } })],
    ['with another algorithm', () => forge(claims(), { header: { alg: 'HS512' }, hash: 'sha512' })],
    ['of another type', () => forge(claims(), { header: { typ: 'at+jwt' } })],
    ['with an unknown critical header', () => forge(claims(), { header: { crit: ['x'], x: 1 } })],
    ['that is empty', () => ''],
    ['that is no token', () => 'a.b.c'],
    ['that is very long', () => 'a'.repeat(100_000)],
  ])('[G52] a token %s is a 401', async (_name, make) => {
    await expect(verifyToken(secret, make())).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('[G52] a token that was tampered with in any part is a 401', async () => {
    const [header = '', , signature = ''] = forge(claims()).split('.');
    const other = forge({ ...claims(), sub: 'eve' }, { key: randomBytes(32) }).split('.')[1];
    await expect(verifyToken(secret, `${header}.${other}.${signature}`)).rejects.toMatchObject({
      code: 'unauthorized',
    });
    await expect(verifyToken(secret, forge(claims()).slice(0, -4))).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('[G52] an expired token is a 401, which says so', async () => {
    const past = Math.floor(Date.now() / 1_000) - 1;
    await expect(verifyToken(secret, forge({ ...claims(), exp: past }))).rejects.toMatchObject({
      code: 'token_expired',
    });
  });
});

describeIdleWorld('entity tokens', ({ world, beside }) => {
  const other = beside();

  test('[G52] a request with an expired token gets a 401 that says so, and one with a wrong token does not', async () => {
    const api = await openApi(undefined as unknown as Database, { services: world.services });
    const own = Buffer.from(await tokenSecret(world.store));
    const past = Math.floor(Date.now() / 1_000) - 1;
    const answerTo = (token: string) => api.call('GET', '/api/spaces', { secret: token });
    const error = (code: string) => ({ status: 401, body: { error: { code } } });
    expect(await answerTo(forge({ ...claims(), exp: past }, { key: own }))).toMatchObject(error('token_expired'));
    expect(await answerTo(forge({ ...claims(), exp: past }))).toMatchObject(error('unauthorized'));
    api.app.stop();
  });

  test('[G52] all gateways sign with one secret, which is kept', async () => {
    const made = await Promise.all([world, other, world, other].map(({ store }) => tokenSecret(store)));
    expect(new Set(made.map((each) => Buffer.from(each).toString('hex'))).size).toBe(1);
    expect(made[0]).toHaveLength(32);
    expect(await tokenSecret(world.store)).toEqual(made[0]);
  });
});
