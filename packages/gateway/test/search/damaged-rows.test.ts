import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { scratchFolder } from '../support/scratch-folder.ts';

test.each([
  ['the end of a run', 'update runs set stop = substr(stop, 1, 5)'],
  ['the input of a call', 'update calls set input = substr(input, 1, 5)'],
  ['the outcome of a call', 'update calls set outcome = substr(outcome, 1, 5)'],
  ['a message', 'update messages set content = substr(content, 1, 2)'],
])('%s that is damaged keeps no later text out of the index', async (_what, statement) => {
  const home = await scratchFolder('damaged-rows');
  const start = () =>
    startTestGateway({
      home,
      model: scriptedModel([[{ toolName: 'set_memories', input: { memories: [{ key: 'a', value: 'b' }] } }], 'Aye.']),
      agents: [{ name: 'Captain', instructions: 'You sail.', replies: 'text' }],
      spaces: [{ name: 'Deck', agents: ['Captain'], people: [{ name: 'Ada', externalId: 'ada' }] }],
      tuning: { sweepMs: 50 },
    });
  const say = async ({ api }: Awaited<ReturnType<typeof start>>, text: string): Promise<void> => {
    const [[space], [ada]] = [(await api('/api/spaces')).items, (await api('/api/entities?externalId=ada')).items];
    await api(`/api/spaces/${space.id}/messages`, { entityId: ada.id, text });
  };
  const first = await start();
  await say(first, 'Set sail.');
  await waitFor(async () => (await first.api('/api/runs?status=completed')).items.length === 1);
  await first.stop();
  const database = new DatabaseSync(join(home, 'lastcall.db'));
  expect(database.prepare(statement).run().changes).toBeGreaterThan(0);
  database.exec('delete from search_entries');
  database.close();

  await using second = await start();
  await say(second, 'A kraken ahead.');
  const found = await waitFor(async () => {
    const { items } = await second.api('/api/search?q=kraken');
    return items.length > 0 && items;
  });
  expect(found).toMatchObject([{ kind: 'message' }]);
});
