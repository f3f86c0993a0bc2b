import { scriptedModel } from '@lastcall/core/testing';
import { waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { startStudio } from '../support/studio.ts';

const browser = useBrowser();

test('[S5] an agent that is newer than the page, or that cannot be read at the moment, is not called deleted', async () => {
  await using studio = await startStudio(browser(), {
    model: scriptedModel(() => 'Done.'),
    spaces: [{ name: 'Desk', people: [{ name: 'Ada' }] }],
  });
  const { api } = studio.gateway;
  const goOnce = async (name: string): Promise<{ agentId: string; runId: string }> => {
    const { id: agentId } = await api('/api/agents', { name, instructions: 'Work.' });
    await api(`/api/agents/${agentId}/events`, { source: 'test', name: 'go' });
    const run = await waitFor(async () =>
      (await api(`/api/runs?agentId=${agentId}`)).items.find((one: { status: string }) => one.status === 'completed'),
    );
    return { agentId, runId: run.id };
  };
  await goOnce('Porter');
  const { page } = await studio.open('/runs');
  const list = page.getByRole('list', { name: 'Runs' });
  await list.getByText('Porter').waitFor();
  const { agentId, runId } = await goOnce('Cook');
  await list.getByText('Cook, run 1').waitFor();

  await page.route(`**/api/agents/${agentId}*`, (route) => route.abort());
  await page.goto(`${studio.gateway.url}/runs/${runId}`);
  await page.getByText('asked an agent').waitFor();
  await page.unrouteAll();
  await api(`/api/agents/${agentId}`, undefined, { method: 'DELETE' });
  await page.reload();
  await page.getByText('asked a deleted agent').waitFor();
});

test('[S8] a person who may not see runs is told so, without requests that are refused', async () => {
  await using studio = await startStudio(browser(), { spaces: [{ name: 'Desk', people: [{ name: 'Ada' }] }] });
  const { page, problems } = await studio.open('/runs', { scopes: [] });
  await page.getByText('You may not see the runs here.').waitFor();
  await page.goto(`${studio.gateway.url}/runs/some-run`);
  await page.getByRole('heading', { name: 'Run', exact: true }).waitFor();
  await page.getByText('You may not see the runs here.').waitFor();
  await page.goto(`${studio.gateway.url}/runs/some-run/compare/another`);
  await page.getByText('You may not compare runs here.').waitFor();
  expect(problems).toEqual([]);
});
