import { expect, test } from 'vitest';
import { openPostgresStore } from '../../src/ports/store/postgres/postgres-store.ts';
import { onPostgres } from '../support/stores.ts';
import { tapWire } from '../support/tapped-wire.ts';
import { openApi } from './api.ts';

test('a 503 says whether the change may have been made: only in that case a retry is not safe', async () => {
  const database = await onPostgres.create();
  const wire = await tapWire(database.location);
  const store = await openPostgresStore({ url: wire.url, connections: 2 });
  const api = await openApi(database, { services: { store } });
  const create = () => api.call('POST', '/api/entities', { body: { kind: 'human', displayName: 'Ada' } });
  try {
    wire.tap('commit', 'lose server');
    const inDoubt = await create();
    expect([inDoubt.status, inDoubt.body.error.details]).toEqual([503, { inDoubt: true }]);
    wire.tap('commit', 'pass');
    wire.tap('begin', 'cut before');
    const refused = await create();
    expect([refused.status, refused.body.error.details]).toEqual([503, undefined]);
  } finally {
    wire.tap('begin', 'pass');
    await api.close();
    wire.close();
    await database.remove();
  }
});
