import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { afterEach, describe, expect, test } from 'vitest';
import { createAgent } from '../../src/domain/agents/create-agent.ts';
import { createConversation } from '../../src/domain/conversations/conversation.ts';
import { createEntity } from '../../src/domain/entities/entity.ts';
import { newId } from '../../src/domain/new-id.ts';
import { createSpace } from '../../src/domain/spaces/space.ts';
import { toJson } from '../../src/ports/store/schema/json.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { filesWith, tablesWith } from '../erasure/planted.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { type Database, databases } from '../support/stores.ts';
import { ask, SECRET_KEY } from './api.ts';
import { GatewayProcess } from './gateway-process.ts';
import { until } from './until.ts';

const PLANTED = 'zebra-7731-lantern';
const MESSAGES = 3_000;

describe.each(databases)('an erasure on $kind', ({ kind, create }) => {
  const database = forEachTest(create);
  const folder = forEachTest(async () => {
    const path = await mkdtemp(join(tmpdir(), 'lastcall-erasure-'));
    // Without a configuration the demo would run in another process than the one that is killed.
    await writeFile(join(path, 'lastcall.config.ts'), 'export default {};\n');
    return { path, remove: () => rm(path, { recursive: true, force: true }) };
  });

  const gateways: GatewayProcess[] = [];
  afterEach(async () => {
    for (const gateway of gateways.splice(0)) await gateway.kill();
  });

  const start = async (name: string, leaseMs: number): Promise<GatewayProcess> => {
    const where: Record<string, string> =
      kind === 'postgres'
        ? { DATABASE_URL: database.location, LASTCALL_HOME: folder.path }
        : { LASTCALL_HOME: database.location };
    const env = { PORT: '0', LASTCALL_SECRET_KEY: SECRET_KEY, LASTCALL_LEASE_MS: String(leaseMs), ...where };
    const started = await GatewayProcess.start({ name, folder: folder.path, env });
    gateways.push(started);
    return started;
  };

  test('[O3] an erasure whose gateway is killed is continued by another one, and nothing is left', async () => {
    const store = await database.open();
    const { personId, threadId } = await fill(store);
    await store.close();
    // It waits for one and a half leases for a run in a conversation of the person, so it is killed before it is done.
    const first = await start('first', 60_000);
    await change(database, `update threads set lease_owner = 'a run', lease_until = ${FAR} where id = '${threadId}'`);
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
    // The dead gateway owns the erasure for as long as a lease; the rest of that time is skipped.
    await change(database, `update erasures set owned_until = ${Date.now() + 2_000} where id = '${id}'`);
    const second = await start('second', 1_000);
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

/** Later than the end of this test. */
const FAR = Date.now() + 86_400_000;

/** Changes the database directly, bypassing the gateways. */
async function change({ kind, location }: Database, statement: string): Promise<void> {
  if (kind === 'sqlite') {
    const file = new DatabaseSync(join(location, 'lastcall.db'), { timeout: 30_000 });
    file.exec(statement);
    file.close();
    return;
  }
  const client = new Client(location);
  await client.connect();
  await client.query(statement);
  await client.end();
}

/** A person with many messages in a space, and a conversation. */
async function fill(store: Store): Promise<{ readonly personId: string; readonly threadId: string }> {
  const { personId, spaceId, threadId } = await store.transaction(async (tx) => {
    const { id } = await createEntity(tx, { kind: 'human', displayName: 'Ada Lighthouse' });
    const space = await createSpace(tx, { name: 'Room', members: [{ entityId: id }] });
    const agent = await createAgent(tx, { config: { name: 'Bot', instructions: '' } });
    const context = await createConversation(tx, { agentId: agent.id, ownerId: id });
    return { personId: id, spaceId: space.id, threadId: context.id };
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
  return { personId, threadId };
}
