import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { useBrowser } from '../support/browser.ts';
import { startStudio } from '../support/studio.ts';

const browser = useBrowser();

test('the card of an approved call that has not begun says that there is no result yet, and not that it runs', async () => {
  const paid: string[] = [];
  const pay = tool({
    description: 'Pays.',
    inputSchema: z.object({}),
    approval: true,
    execute: () => `Paid ${paid.push('once')}.`,
  });
  await using studio = await startStudio(browser(), {
    models: { clerk: scriptedModel([[{ toolName: 'pay', input: {} }], 'I asked.', 'It is paid.']) },
    agents: [{ name: 'Clerk', instructions: 'Pay.', tools: ['pay'], model: 'clerk' }],
    tools: { pay },
    spaces: [{ name: 'Desk', agents: ['Clerk'], people: [{ name: 'Ada', externalId: 'ada' }] }],
  });
  const { api } = studio.gateway;
  const [{ id: space }] = (await api('/api/spaces')).items;
  await api(`/api/spaces/${space}/messages`, { entityId: await studio.person('Ada'), text: 'Pay.' });
  const { callId, runId, agentId } = await waitFor(async () => (await api('/api/pending')).items[0]);
  await api(`/api/agents/${agentId}/pause`, {});
  await api(`/api/runs/${runId}/tool-results`, { callId, approve: true });
  const { page } = await studio.open(`/spaces/${space}`);
  const card = page.locator(`[data-card="${callId}"]`);
  await card.getByText('There is no result yet.').waitFor();
  expect(await card.textContent()).toContain('Approved');
  expect(await card.textContent()).not.toContain('running');
  expect(await card.getAttribute('aria-label')).toBe('pay, approved, without a result yet');
  expect(paid).toEqual([]);
  await api(`/api/agents/${agentId}/resume`, {});
  await card.getByText('Paid 1.').waitFor();
});
