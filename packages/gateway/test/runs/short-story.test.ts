import { describe, expect, test } from 'vitest';
import { openApi } from '../http/api.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';

describe.each(databases)('the story of a run on $kind', ({ create }) => {
  const database = forAllTests(create);
  const api = forAllTests(() => openApi(database));

  test('[S22] a run that took no event and made no call is a story of its own', async () => {
    const run = await api.run(await api.agent());
    expect(await api.done('GET', `/api/runs/${run}/story`)).toMatchObject({ id: run, runs: [{ id: run }], waits: [] });
  });
});
