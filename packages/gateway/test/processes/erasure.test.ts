import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createEntity } from '../../src/domain/entities/entity.ts';
import { newId } from '../../src/domain/new-id.ts';
import { createSpace } from '../../src/domain/spaces/space.ts';
import { toJson } from '../../src/ports/store/schema/json.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { filesWith, tablesWith } from '../erasure/planted.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';
import { ask, SECRET_KEY } from './api.ts';
import { GatewayProcess } from './gateway-process.ts';
import { until } from './until.ts';

const PLANTED = 'zebra-7731-lantern';
const MESSAGES = 30_000;

describe.each(databases)('an erasure on $kind', ({ kind, create }) => {
  const database = forEachTest(create);
  const folder = forEachTest(async () => {
    const path = await mkdtemp(join(tmpdir(), 'lastcall-erasure-'));
    return { path, remove: () => rm(path, { recursive: true, force: true }) };
  });

  const start = (name: string): Promise<GatewayProcess> => {
    const where: Record<string, string> =
      kind === 'postgres'
        ? { DATABASE_URL: database.location, LASTCALL_HOME: folder.path }
        : { LASTCALL_HOME: database.location };
    const env = { PORT: '0', LASTCALL_SECRET_KEY: SECRET_KEY, ...where };
    return GatewayProcess.start({ name, folder: folder.path, env });
  };

  test('[O3] an erasure whose gateway is killed is continued by another one, and nothing is left', async () => {
    const store = await database.open();
    const personId = await fill(store);
    await store.close();
    const first = await start('first');
    const response = await fetch(`${first.url}/api/entities/${personId}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${SECRET_KEY}` },
    });
    expect(response.status).toBe(202);
    const { id } = (await response.json()) as { id: string };
    const begun = await until('texts are being replaced', async () => {
      const erasure = await ask(first.url, `/api/erasures/${id}`);
      return erasure.replaced > 0 ? erasure : undefined;
    });
    await first.kill();
    expect(begun.status).toBe('running');
    const second = await start('second');
    const done = await until('it is done', async () => {
      const erasure = await ask(second.url, `/api/erasures/${id}`);
      return erasure.status === 'done' ? erasure : undefined;
    });
    expect(done.replaced).toBeGreaterThanOrEqual(MESSAGES);
    await second.kill();
    const after = await database.open();
    expect(await tablesWith(after, PLANTED)).toEqual([]);
    expect(await tablesWith(after, 'lighthouse')).toEqual([]);
    await after.close();
    expect(await filesWith(database, folder.path, PLANTED)).toEqual([]);
  }, 150_000);
});

async function fill(store: Store): Promise<string> {
  const { personId, spaceId } = await store.transaction(async (tx) => {
    const { id } = await createEntity(tx, { kind: 'human', displayName: 'Ada Lighthouse' });
    const space = await createSpace(tx, { name: 'Room', members: [{ entityId: id }] });
    return { personId: id, spaceId: space.id };
  });
  for (let made = 0; made < MESSAGES; made += 1_000)
    await store.transaction(async (tx) => {
      const now = tx.now();
      const rows = Array.from({ length: 1_000 }, (_, index) => ({
        ...{ id: newId(now), space_id: spaceId, seq: made + index + 1, entity_id: personId, kind: 'text' as const },
        ...{ content: toJson(`${PLANTED} and ${made + index} lighthouse keepers`), metadata: '{}' },
        ...{ status: 'complete' as const, created_at: now, updated_at: now },
      }));
      await tx.db.insertInto('messages').values(rows).execute();
    });
  await store.transaction((tx) =>
    tx.db
      .updateTable('spaces')
      .set({ next_seq: MESSAGES + 1 })
      .where('id', '=', spaceId)
      .execute(),
  );
  return personId;
}
