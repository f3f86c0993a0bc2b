import { afterEach, describe, expect, test } from 'vitest';
import { waitFor } from '../../src/testing/index.ts';
import { type Office, openOffice, says } from '../grants/office.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { databases, locationOf } from '../support/stores.ts';
import { tablesWith } from './planted.ts';

describe.each(databases)('grants and erasures on $kind', ({ create }) => {
  const database = forEachTest(create);
  let office: Office | undefined;
  afterEach(async () => await office?.gateway.stop());

  const open = async (): Promise<Office> => {
    const { next, model } = says();
    office = await openOffice({ next, model, ...locationOf(database), tuning: { sweepMs: 50 } });
    return office;
  };
  const grant = async ({ pay, answer, gateway: { api } }: Office, to: string, key?: string) => {
    const asked = await pay({ amount: 5, to });
    const conditions = [{ field: '/to', oneOf: [to, 'Mumbleford'] }];
    const { status, body } = await answer(asked, { approve: true, grant: { for: 'hour', conditions } }, key);
    expect(status).toBe(200);
    await waitFor(async () => (await api(`/api/runs/${body.runId}`)).status === 'completed');
    return body.grantId as string;
  };
  const erase = async ({ gateway: { api } }: Office, path: string) => {
    const { id } = await api(path, undefined, { method: 'DELETE' });
    await waitFor(async () => (await api(`/api/erasures/${id}`)).status === 'done', { timeoutMs: 90_000 });
  };
  const tables = async ({ gateway }: Office, text: string) => {
    await gateway.stop();
    const store = await database.open();
    try {
      return await tablesWith(store, text);
    } finally {
      await store.close();
    }
  };

  test('[O3] the conditions of a grant are erased with the person who gave it', async () => {
    const office = await open();
    const id = await grant(office, 'Zq', office.ada.token);
    await erase(office, `/api/entities/${office.ada.id}`);
    expect(await office.gateway.api(`/api/grants/${id}`)).toMatchObject({ status: 'ended', conditions: [] });
    expect(await tables(office, 'Mumbleford')).toEqual([]);
  });

  test('[O9] erasing a person who wrote the number of a limit does not remove the limit', async () => {
    const office = await open();
    const asked = await office.pay({ amount: 5 });
    const conditions = [{ field: '/amount', atMost: 1_000_000 }];
    const { body } = await office.answer(asked, { approve: true, grant: { for: 'always', conditions } });
    const text = 'We have 1000000 reasons.';
    await office.gateway.api(`/api/spaces/${office.space}/messages`, { entityId: office.ada.id, text });
    await erase(office, `/api/entities/${office.ada.id}`);
    expect(await office.gateway.api(`/api/grants/${body.grantId}`)).toMatchObject({ status: 'active', conditions });
  });

  test('[O1] [O9] erasing a person of another project does not end a grant with the same words', async () => {
    const office = await open();
    const id = await grant(office, 'Zq');
    const { api } = office.gateway;
    await api('/api/projects', { id: 'acme' });
    const { key } = await api('/api/keys', { name: 'Acme', scopes: ['admin'], project: 'acme' });
    const person = await api('/api/entities', { kind: 'human', displayName: 'Mumbleford' }, { key });
    await erase(office, `/api/entities/${person.id}`);
    expect(await api(`/api/grants/${id}`)).toMatchObject({
      status: 'active',
      conditions: [{ field: '/to', oneOf: ['Zq', 'Mumbleford'] }],
    });
  });

  test('[O3] a grant whose conditions were made of erased texts is erased and ends', async () => {
    const office = await open();
    const id = await grant(office, 'Zq');
    await erase(office, `/api/spaces/${office.space}`);
    expect(await office.gateway.api(`/api/grants/${id}`)).toMatchObject({ status: 'ended', conditions: [] });
    expect(await tables(office, '"Zq"')).toEqual([]);
    expect(await tables(office, 'Mumbleford')).toEqual([]);
  });
});
