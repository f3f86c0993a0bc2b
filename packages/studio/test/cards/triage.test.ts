import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { type TestGateway, waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { accessibilityProblems } from '../support/accessibility.ts';
import { useBrowser } from '../support/browser.ts';
import { startStudio } from '../support/studio.ts';

const browser = useBrowser();
/** More than fit into the window. */
const CALLS = 12;
/** The last three ask the same. */
const SAME = 3;
const LAST = { amount: 1_000, to: 'Rent' };
const ROWS = CALLS - SAME + 1;
const inputs = Array.from({ length: CALLS }, (_, index) =>
  index < CALLS - SAME ? { amount: index + 1, to: `Supplier ${index + 1}` } : LAST,
);

test('[S26] many calls are answered with the keyboard alone: one by one, and those that ask the same together', async () => {
  const paid: unknown[] = [];
  const wire_money = tool({
    description: 'Wire money.',
    inputSchema: z.object({ amount: z.number(), to: z.string() }),
    approval: true,
    execute: (input) => {
      paid.push(input);
      return 'Paid.';
    },
  });
  const model = scriptedModel([
    inputs.map((input) => ({ toolName: 'wire_money', input })),
    ...Array.from({ length: 2 * CALLS }, () => 'Thank you.'),
  ]);
  await using studio = await startStudio(browser(), {
    models: { clerk: model },
    agents: [{ name: 'Clerk', instructions: 'Pay.', tools: ['wire_money'], model: 'clerk' }],
    tools: { wire_money },
    spaces: [{ name: 'Desk', agents: ['Clerk'], people: [{ name: 'Ada', externalId: 'ada' }] }],
  });
  const { gateway } = studio;
  const { page, problems } = await studio.open('/inbox', { height: 500 });
  await page.getByText('Nothing is waiting for you.').waitFor();
  await say(gateway, (await studio.person('Ada')) ?? '');
  const rows = page.getByRole('list', { name: 'waiting calls' }).getByRole('listitem');
  await expect.poll(() => rows.count()).toBe(ROWS);
  expect(await rows.last().textContent()).toContain(`${SAME} × `);
  expect(await accessibilityProblems(page)).toEqual([]);

  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-status'));
  const press = async (key: string, until: () => Promise<boolean>): Promise<void> =>
    await expect
      .poll(async () => {
        if (!(await until())) await page.keyboard.press(key);
        return await until();
      })
      .toBe(true);
  // The first call is shown beside the list, without the focus, and the address names it.
  const [first, , third] = (await gateway.api('/api/pending')).items;
  await page.waitForURL(`**/inbox?call=${first.callId}`);
  await page.getByRole('region', { name: /^wire_money, waits/ }).waitFor();
  expect(await focused()).toBe(null);
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keys on this page' });
  for (const label of ['Approve', 'Edit what is approved', 'Deny'])
    await help.getByText(`${label} (in the card that has the focus)`).waitFor();
  await page.keyboard.press('Escape');
  await help.waitFor({ state: 'detached' });
  // A link opens the call that it names.
  const link = await studio.open(`/inbox?call=${third.callId}`);
  await link.page.locator(`[data-inbox-row="${third.callId}"][aria-expanded=true]`).waitFor();
  await link.page.locator(`[data-card="${third.callId}"]`).waitFor();
  await page.keyboard.press('j');
  for (let row = 1; row <= ROWS; row++) {
    await expect.poll(focused).toBe('waiting');
    if (row === 2) {
      await press('d', () => page.getByRole('textbox', { name: 'Why not?' }).isVisible());
      await page.keyboard.type('Twice already.');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      const denied = page.getByRole('region', { name: /^wire_money, cancelled/ });
      await press('Enter', () => denied.isVisible());
    } else await press('a', async () => !['waiting', null].includes((await focused()) ?? null));
    if (row < ROWS) await page.keyboard.press('j');
  }
  await page.getByText(`${SAME - 1} other calls ask exactly the same.`).waitFor();
  const alike = page.getByRole('button', { name: `Answer ${SAME - 1} more: Approve` });
  await alike.waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.keyboard.press('Shift+A');
  await page.getByText(`${SAME - 1} more answered.`).waitFor();
  await expect.poll(() => page.getByRole('link', { name: 'Inbox', exact: true }).count()).toBe(1);

  const { items } = await gateway.api('/api/pending?status=resolved&limit=100');
  expect(items).toHaveLength(CALLS);
  const denied = items.filter(({ answer }: { answer: object }) => 'deny' in answer);
  expect(denied.map(({ input }: { input: unknown }) => input)).toEqual([inputs[1]]);
  await waitFor(() => paid.length === CALLS - 1);
  expect(paid.filter((input) => (input as typeof LAST).to === LAST.to)).toHaveLength(SAME);
  expect(problems).toEqual([]);
});

test('[S26] a button asks for notifications of the browser when a call waits, which appear for calls while the page is hidden', async () => {
  const ask = { toolName: 'lend_key', input: { question: 'Lend the key?' } };
  const model = scriptedModel(
    [[ask], [ask], ...Array.from({ length: 8 }, () => 'Ok.')].flatMap((one) => [one, 'Ok.'] as never),
  );
  await using studio = await startStudio(browser(), {
    models: { clerk: model },
    agents: [{ name: 'Clerk', instructions: 'Ask.', tools: ['lend_key'], model: 'clerk' }],
    tools: {
      lend_key: {
        executionType: 'space',
        description: 'Lend the key?',
        inputSchema: { type: 'object', properties: { question: { type: 'string' } } },
        resultSchema: { type: 'boolean' },
      },
    },
    spaces: [{ name: 'Desk', agents: ['Clerk'], people: [{ name: 'Ada', externalId: 'ada' }] }],
  });
  const { page, problems } = await studio.open('/inbox', { isNew: true });
  // The browser of the tests shows no notifications, so this class records them.
  await page.addInitScript(() => {
    const shown: unknown[] = [];
    let permission = 'default';
    class Recorded {
      static get permission() {
        return permission;
      }
      static async requestPermission() {
        permission = 'granted';
        return permission;
      }
      constructor(title: string, { body }: { body: string }) {
        shown.push([title, body]);
      }
    }
    Object.assign(window, { Notification: Recorded, shown });
  });
  await page.reload();
  await page.getByText('Nothing is waiting for you.').waitFor();
  expect(await page.getByRole('button', { name: 'Notify me' }).count()).toBe(0);
  const ada = (await studio.person('Ada')) ?? '';
  await say(studio.gateway, ada);
  await page.getByRole('button', { name: 'Notify me' }).click();
  await page.getByRole('button', { name: 'Notify me' }).waitFor({ state: 'detached' });
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { value: true, configurable: true });
  });
  await say(studio.gateway, ada);
  await expect
    .poll(() => page.evaluate(() => (window as unknown as { shown: unknown[] }).shown))
    .toEqual([['A call waits for your answer', 'lend_key']]);
  expect(problems).toEqual([]);
});

test('[S26] another page that is still loading opens, although a call arrives in the inbox meanwhile', async () => {
  await using studio = await startStudio(browser());
  // The files of the other page are not in the cache of a new page.
  const { page, problems } = await studio.open('/inbox', { isNew: true });
  await page.getByText('Nothing is waiting for you.').waitFor();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/assets/*.js', async (route) => {
    await released;
    await route.continue();
  });
  await page.getByRole('link', { name: 'Agents', exact: true }).click();
  await page.waitForURL('**/agents');
  const text = 'Book a hotel in Tokyo for 3 nights, please.';
  const [space] = (await studio.gateway.api('/api/spaces')).items;
  await studio.gateway.api(`/api/spaces/${space.id}/messages`, { entityId: await studio.person('Ada'), text });
  await page.getByRole('list', { name: 'waiting calls' }).getByRole('listitem').waitFor();
  release();
  await page.getByRole('heading', { name: 'Agents' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/agents');
  expect(problems).toEqual([]);
});

async function say(gateway: TestGateway, entityId: string): Promise<void> {
  const { items } = await gateway.api('/api/spaces');
  await gateway.api(`/api/spaces/${items[0].id}/messages`, { entityId, text: 'Go on.' });
}

test('[S26] the link to a call that no longer waits says so, and does not show another one in its place without a word', async () => {
  const transfer = tool({
    description: 'Transfer money.',
    inputSchema: z.object({ to: z.string() }),
    approval: true,
    execute: () => 'Paid.',
  });
  const model = scriptedModel([
    ['Rent', 'Water'].map((to) => ({ toolName: 'transfer', input: { to } })),
    'Asked.',
    'Thank you.',
  ]);
  await using studio = await startStudio(browser(), {
    model,
    agents: [{ name: 'Clerk', instructions: 'Pay.', tools: ['transfer'] }],
    tools: { transfer },
    spaces: [{ name: 'Desk', agents: ['Clerk'], people: [{ name: 'Ada', externalId: 'ada' }] }],
  });
  const { api } = studio.gateway;
  await say(studio.gateway, (await studio.person('Ada')) ?? '');
  const [first] = await waitFor(async () => {
    const { items } = await api('/api/pending');
    return items.length === 2 && items;
  });
  await api(`/api/runs/${first.runId}/tool-results`, { callId: first.callId, deny: 'No.' });
  const { page, problems } = await studio.open(`/inbox?call=${first.callId}`);
  const note = page.getByText('The call of this link does not wait for you');
  await note.waitFor();
  await page.getByRole('region', { name: /^transfer/ }).waitFor();
  await page.getByRole('link', { name: 'Open the call' }).click();
  await page.getByRole('region', { name: 'Timeline' }).waitFor();
  await page.goto(`${studio.gateway.url}/inbox`);
  await page.getByRole('region', { name: /^transfer/ }).waitFor();
  expect(await note.count()).toBe(0);
  expect(problems).toEqual([]);
});
