import { scriptedModel } from '@lastcall/core/testing';
import type { TestGateway } from '@lastcall/gateway/testing';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { clickStill } from '../support/calm.ts';
import { startStudio } from '../support/studio.ts';
import { askingDesk, cardOf } from './desk.ts';

const browser = useBrowser();

/** An agent in no space, whose calls no space shows: Ben is named as who may answer, operators may. */
async function lonelyAgent({ api }: TestGateway, ben: string): Promise<() => Promise<void>> {
  await api('/api/tools', {
    ...{
      name: 'sign_off',
      description: 'Sign it off?',
      executionType: 'external',
      visible: false,
      resultSchema: { type: 'boolean' },
    },
    inputSchema: { type: 'object', properties: { question: { type: 'string' } } },
    answerers: { entities: [ben] },
  });
  const { id } = await api('/api/agents', { name: 'Loner', instructions: 'Ask.', tools: ['sign_off'], model: 'asks' });
  return async () => void (await api(`/api/agents/${id}/events`, { source: 'test', name: 'go' }));
}

test('[S4] a call that no space shows is answered by another: the open row says so, and has no buttons any more', async () => {
  let isDue = false;
  const asks = scriptedModel(() => {
    if (!isDue) return 'That is all.';
    isDue = false;
    return { toolName: 'sign_off', input: { question: 'Is it right?' } };
  });
  await using studio = await startStudio(browser(), { ...askingDesk(), models: { asks } });
  const wake = await lonelyAgent(studio.gateway, (await studio.person('Ben')) ?? '');
  const ask = async (): Promise<void> => {
    isDue = true;
    await wake();
  };
  // A link without a person: an operator, who may answer everything.
  const { page: operator, problems } = await studio.open('/inbox', { as: 'nobody' });
  const { page: ben, problems: bensProblems } = await studio.open('/inbox', { as: 'Ben', scopes: [] });
  const openRow = async (page: Page): Promise<void> => {
    const row = page.getByRole('list', { name: 'waiting calls' }).getByRole('button', { name: /sign_off/ });
    await row.and(page.locator('[aria-expanded=false]')).click();
    await cardOf(page, /^sign_off, waits/).waitFor();
  };

  await ask();
  await openRow(operator);
  await openRow(ben);
  await clickStill(cardOf(operator, /^sign_off/).getByRole('button', { name: 'Yes' }));
  const answered = cardOf(ben, /^sign_off, done/);
  await answered.getByText('Yes', { exact: true }).waitFor();
  await answered.getByText('an operator').waitFor();
  expect(await answered.getByRole('button', { name: /^(Yes|No)$/ }).count()).toBe(0);
  await ben.reload();
  await operator.reload();
  await ben.getByText('Nothing waits for you.').waitFor();

  await ask();
  await openRow(operator);
  await openRow(ben);
  await clickStill(cardOf(ben, /^sign_off/).getByRole('button', { name: 'No' }));
  const told = cardOf(operator, /^sign_off, done/);
  await told.getByText('No', { exact: true }).waitFor();
  await told.getByText('Ben').waitFor();
  expect(await told.getByRole('button', { name: /^(Yes|No)$/ }).count()).toBe(0);
  // That no space shows the call is a 404 for whoever may only answer it.
  expect([...problems, ...bensProblems].filter((one) => !one.includes('404'))).toEqual([]);
});
