import { scriptedModel } from '@lastcall/core/testing';
import { type TestGateway, waitFor } from '@lastcall/gateway/testing';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { startStudio } from '../support/studio.ts';
import { askingDesk, cardOf } from './desk.ts';

const browser = useBrowser();

/** An agent in no space asks, so no space shows its call. Ben and operators may answer it. */
async function askUnseen({ api }: TestGateway, ben: string): Promise<{ callId: string; runId: string }> {
  await api('/api/tools', {
    ...{ name: 'sign_off', description: 'Sign it off?', executionType: 'external', visible: false },
    inputSchema: { type: 'object', properties: { question: { type: 'string' } } },
    resultSchema: { type: 'boolean' },
    answerers: { entities: [ben] },
  });
  const { id } = await api('/api/agents', { name: 'Loner', instructions: 'Ask.', tools: ['sign_off'], model: 'asks' });
  await api(`/api/agents/${id}/events`, { source: 'test', name: 'go' });
  return await waitFor(async () => (await api('/api/pending')).items[0]);
}

test('[S4] if another person answers a call that no space shows, the open row says so, and has no buttons any more', async () => {
  const asks = scriptedModel([{ toolName: 'sign_off', input: { question: 'Is it right?' } }, 'Asked.', 'Thank you.']);
  await using studio = await startStudio(browser(), { ...askingDesk(), models: { asks } });
  const ben = (await studio.person('Ben')) ?? '';
  const { callId, runId } = await askUnseen(studio.gateway, ben);
  // A link without a person is for an operator, who may answer and see everything.
  const opened = [
    await studio.open('/inbox', { as: 'nobody' }),
    await studio.open('/inbox', { as: 'Ben', scopes: [] }),
  ] as const;
  const buttonsOf = (page: Page) => page.getByRole('button', { name: /^(Yes|No)$/ });
  for (const { page } of opened) {
    await page
      .getByRole('list', { name: 'waiting calls' })
      .getByRole('button', { name: /sign_off/ })
      .click();
    await cardOf(page, /^sign_off, waits/).waitFor();
    await expect.poll(() => buttonsOf(page).count()).toBe(2);
  }
  const { token } = await studio.gateway.api(`/api/entities/${ben}/token`, {});
  await studio.gateway.api(`/api/runs/${runId}/tool-results`, { callId, result: true }, { key: token });
  for (const { page, problems } of opened) {
    const card = cardOf(page, /^sign_off, done/);
    await card.getByText('Yes', { exact: true }).waitFor();
    await card.getByText('Ben,').waitFor();
    expect(await buttonsOf(page).count()).toBe(0);
    expect(problems).toEqual([]);
  }
});
