import { expect, test } from 'vitest';
import type { ArtifactFiles } from '../../src/ports/artifacts/artifact-files.ts';
import { waitFor } from '../../src/testing/index.ts';
import { openApi } from '../http/api.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';

const [{ create }] = databases as [(typeof databases)[number]];
const database = forEachTest(create);
let stored = Promise.withResolvers<void>();
const begun: string[] = [];
/** A slow bucket. */
const artifacts: ArtifactFiles = {
  async write(id) {
    begun.push(id);
    await stored.promise;
  },
  read: async () => undefined,
  remove: async () => {},
};
const api = forEachTest(() => {
  stored = Promise.withResolvers<void>();
  const limits = { artifactBytes: 10_000, bodyBytes: 1_000, bodies: 100, bodiesPerCaller: 10, bodiesPerAddress: 50 };
  return openApi(database, { artifacts, limits });
});

const send = async (secret: string, size: number) => {
  const headers = { authorization: `Bearer ${secret}`, 'content-length': String(size) };
  const body = Buffer.alloc(size, 1);
  return (await api.app.fetch(new Request('http://gateway/api/artifacts', { method: 'POST', headers, body }))).status;
};

test('[O10] a file counts as several bodies until it is stored, so that a person cannot fill the memory', async () => {
  const [ada, bob] = [await api.tokenOf(await api.person('Ada')), await api.tokenOf(await api.person('Bob'))];
  const first = [send(ada, 9_000), send(ada, 900), send(bob, 10_000)];
  await waitFor(() => begun.length === 3);
  expect(await send(ada, 900)).toBe(429);
  stored.resolve();
  expect(await Promise.all(first)).toEqual([201, 201, 201]);
  expect(await send(ada, 10_000)).toBe(201);
});
