import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { useBrowser } from '../support/browser.ts';
import { clickStill } from '../support/calm.ts';
import { startStudio } from '../support/studio.ts';

const browser = useBrowser();

test('[S4] a call that waits in no space is in the inbox of an operator who acts for a person, can be answered there, and is not in that of others', async () => {
  const paid: unknown[] = [];
  const pay = tool({
    description: 'Pays.',
    inputSchema: z.object({ amount: z.number() }),
    approval: true,
    execute: (input) => {
      paid.push(input);
      return 'Paid.';
    },
  });
  await using studio = await startStudio(browser(), {
    model: scriptedModel([[{ toolName: 'pay', input: { amount: 40 } }], 'Done.']),
    agents: [{ name: 'Clerk', instructions: 'Pay.', tools: ['pay'] }],
    tools: { pay },
    spaces: [{ name: 'Desk', agents: ['Clerk'], people: [{ name: 'Ada' }] }],
  });
  const { api } = studio.gateway;
  const { page, problems } = await studio.open('/inbox', { scopes: ['admin', 'write'] });
  await page.getByText('Nothing is waiting for you.').waitFor();
  // Its sentence is only for the demo.
  expect(await page.getByText('Book a hotel in Tokyo').count()).toBe(0);

  await api('/v1/chat/completions', { model: 'Clerk', messages: [{ role: 'user', content: 'Refund the order.' }] });
  const rows = page.getByRole('list', { name: 'waiting calls' }).getByRole('listitem');
  await rows.getByText('pay · Clerk').waitFor();
  await page.getByRole('link', { name: 'Inbox 1 waiting' }).waitFor();
  const { page: other } = await studio.open('/inbox', { scopes: [] });
  await other.getByText('Nothing is waiting for you.').waitFor();
  await clickStill(page.getByRole('button', { name: 'Approve', exact: true }));
  await waitFor(() => paid.length === 1);
  const [answered] = (await api('/api/pending?status=resolved')).items;
  expect(answered.resolvedByName).toBe('Ada');
  await page.getByRole('link', { name: 'Answered' }).click();
  await page.getByRole('list', { name: 'answered calls' }).getByText('Ada').waitFor();
  expect(problems).toEqual([]);
});

test('[S8] in the demo, an empty inbox says what to say so that a call waits', async () => {
  await using studio = await startStudio(browser());
  const { page } = await studio.open('/settings');
  // The demo of these tests is in the process of the tests, which cannot be killed.
  const status = { ...(await studio.gateway.api('/api/status')), canCrash: true };
  await page.route('**/api/status', (route) => route.fulfill({ json: status }));
  await page.goto(`${studio.gateway.url}/inbox`);
  await page.getByText('Book a hotel in Tokyo').waitFor();
});
