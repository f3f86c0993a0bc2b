import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { startTestGateway } from '../../src/testing/test-gateway.ts';
import { waitFor } from '../../src/testing/wait-for.ts';

test('a running gateway deletes by itself what has been kept for long enough: contexts, stream events and texts of requests', async () => {
  await using gateway = await startTestGateway({
    model: scriptedModel(['Hello.', 'Hello again.']),
    agents: [{ name: 'Helper', instructions: 'Help.' }],
  });
  await gateway.api('/chat', { agent: 'Helper', message: 'Hi.' });
  const { context_id: kept } = await gateway.api('/chat', { agent: 'Helper', message: 'Hi.' });
  using database = new DatabaseSync(join(gateway.home, 'lastcall.db'), { timeout: 10_000 });
  const count = (table: string): number =>
    Number(database.prepare(`select count(*) as count from ${table}`).get()?.count);
  expect(count('contexts')).toBe(2);
  expect(count('request_texts')).toBeGreaterThan(0);
  // As if ten years had passed, but not for the second context.
  const long = 10 * 365 * 86_400_000;
  const age = (change: string): unknown => database.prepare(change).run(kept);
  age(`update runs set ended_at = ended_at - ${long} where thread_id <> ?`);
  age(`update inbox_events set created_at = created_at - ${long} where thread_id <> ?`);
  age(`update contexts set created_at = created_at - ${long}, used_at = used_at - ${long} where id <> ?`);
  database.exec(`update stream_events set created_at = created_at - ${long}`);
  database.exec(`update streams set oldest_at = oldest_at - ${long}`);
  database.exec(`update request_texts set used_at = used_at - ${long}`);
  await waitFor(() => count('contexts') === 1 && count('stream_events') === 0 && count('request_texts') === 0);
  expect(database.prepare('select id from contexts').get()?.id).toBe(kept);
});
