import { scriptedModel } from '@lastcall/core/testing';
import { waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { startStudio } from '../support/studio.ts';

const browser = useBrowser();
const CALLS = 210;

test('[S4] the inbox has every call that waits, however many there are, and the last answered ones first', async () => {
  const ask = {
    executionType: 'space',
    description: 'Asks.',
    inputSchema: { type: 'object', properties: { question: { type: 'string' } }, required: ['question'] },
    resultSchema: { type: 'string' },
  } as const;
  const calls = Array.from({ length: CALLS }, (_, index) => ({
    toolName: 'ask',
    input: { question: `Question ${index + 1}?` },
  }));
  const model = scriptedModel([calls, ...Array.from({ length: CALLS }, () => 'Thank you.')]);
  await using studio = await startStudio(browser(), {
    model,
    tools: { ask },
    agents: [{ name: 'Clerk', instructions: 'Ask.', tools: ['ask'] }],
    spaces: [{ name: 'Desk', agents: ['Clerk'], people: [{ name: 'Ada' }] }],
  });
  const { api } = studio.gateway;
  const [space] = (await api('/api/spaces')).items;
  await api(`/api/spaces/${space.id}/messages`, { entityId: await studio.person('Ada'), text: 'Ask.' });
  const waiting = async () => [
    ...(await api('/api/pending?limit=200')).items,
    ...(await api('/api/pending?limit=200&status=resolved')).items,
  ];
  await waitFor(async () => (await waiting()).length === 200);
  const { page, problems } = await studio.open('/inbox');
  const rows = page.getByRole('listitem').filter({ hasText: /Question \d+\?/ });
  await expect.poll(() => rows.count()).toBe(CALLS);
  for (const { runId, callId } of await waiting())
    await api(`/api/runs/${runId}/tool-results`, { callId, result: 'Yes.' });
  const [last] = (await api('/api/pending')).items;
  await api(`/api/runs/${last.runId}/tool-results`, { callId: last.callId, result: 'At last.' });
  await page.getByRole('link', { name: 'Answered' }).click();
  await expect.poll(() => rows.first().textContent()).toContain('At last.');
  expect(problems).toEqual([]);
});
