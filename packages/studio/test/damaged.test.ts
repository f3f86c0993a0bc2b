import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { scriptedModel } from '@lastcall/core/testing';
import { waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../gateway/test/support/scratch-folder.ts';
import { useBrowser } from './support/browser.ts';
import { startStudio } from './support/studio.ts';

const browser = useBrowser();

test('[S8] the lists of agents and runs name what is damaged in the database, beside the others', async () => {
  const home = await scratchFolder('damaged-studio');
  await using studio = await startStudio(browser(), {
    home,
    model: scriptedModel(() => 'Done.'),
    agents: ['Clerk', 'Porter'].map((name) => ({ name, instructions: 'Work.' })),
    spaces: [{ name: 'Desk', people: [{ name: 'Ada' }] }],
  });
  const { api } = studio.gateway;
  for (const { id } of (await api('/api/agents')).items)
    await api(`/api/agents/${id}/events`, { source: 'test', name: 'go' });
  const runs = await waitFor(async () => {
    const { items } = await api('/api/runs?status=completed');
    return items.length === 2 ? items : undefined;
  });
  const clerk = (await api('/api/agents')).items.find(({ name }: { name: string }) => name === 'Clerk');
  using database = new DatabaseSync(join(home, 'lastcall.db'));
  database.prepare(`update agents set config = '{"a' where id = ?`).run(clerk.id);
  database.prepare(`update runs set trigger = '{"a' where id = ?`).run(runs[0].id);
  const note = (id: string) =>
    page.getByText(`The row of "${id}" is damaged and left out: stop the gateway and restore a backup.`);
  const { page } = await studio.open('/agents');
  await note(clerk.id).waitFor();
  const agents = page.getByRole('list', { name: 'Agents' });
  await agents.getByRole('link', { name: 'Porter' }).waitFor();
  expect(await agents.getByRole('listitem').count()).toBe(1);
  await page.goto(`${studio.gateway.url}/runs`);
  await note(runs[0].id).waitFor();
  expect(await page.getByRole('list', { name: 'Runs' }).getByRole('listitem').count()).toBe(1);
});
