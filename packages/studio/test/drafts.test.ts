import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { waitFor } from '@lastcall/gateway/testing';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { useBrowser } from './support/browser.ts';
import { clickStill } from './support/calm.ts';
import { type Studio, startStudio } from './support/studio.ts';

const browser = useBrowser();
let studio: Studio;
let space: string;

beforeAll(async () => {
  const model = scriptedModel([
    [
      { toolName: 'book_trip', input: { to: 'Tokyo' } },
      { toolName: 'pay', input: { amount: 120, to: 'Hotel' } },
    ],
    'I asked.',
    ...Array.from({ length: 4 }, () => 'Ok.'),
  ]);
  const inputSchema = z.object({ amount: z.number(), to: z.string() });
  studio = await startStudio(browser(), {
    model,
    agents: [{ name: 'Clerk', instructions: 'Ask.', tools: ['book_trip', 'pay'] }],
    tools: {
      book_trip: {
        executionType: 'space',
        description: 'Who travels?',
        inputSchema: { type: 'object', properties: { to: { type: 'string' } } },
        resultSchema: {
          type: 'object',
          properties: { name: { type: 'string' }, nights: { type: 'integer' } },
          required: ['name', 'nights'],
        },
      },
      pay: tool({ description: 'Pays.', inputSchema, approval: true, execute: () => 'Paid.' }),
    },
    spaces: [{ name: 'Desk', agents: ['Clerk'], people: [{ name: 'Ada' }, { name: 'Ben' }] }],
  });
  const { api } = studio.gateway;
  space = (await api('/api/spaces')).items[0].id;
  await api(`/api/spaces/${space}/messages`, { entityId: await studio.person('Ada'), text: 'Go.' });
  await waitFor(async () => (await api('/api/pending')).items.length === 2);
});
afterAll(async () => await studio[Symbol.asyncDispose]());

/** Ends all sessions of the gateway, as their age would. */
async function endSessions(page: Page): Promise<void> {
  const { api } = studio.gateway;
  for (const { id } of (await api('/api/sessions')).items)
    await api(`/api/sessions/${id}`, undefined, { method: 'DELETE' });
  await page.getByRole('heading', { name: 'Sign in to Lastcall' }).waitFor();
}

/** In the same tab, as a person who opens a link that was sent. With the name of no person: as an operator without a person. */
async function signIn(page: Page, path: string, as: string): Promise<void> {
  const { hash } = new URL(await studio.link({ as }));
  await page.goto('about:blank');
  await page.goto(studio.gateway.url + path + hash);
}

test('[S3] what was typed into a card is still there after the session ended, after a reload and on another page', async () => {
  const { page } = await studio.open('/inbox');
  const path = `/spaces/${space}`;
  await page.goto(studio.gateway.url + path);
  const form = page.getByRole('region', { name: /^book_trip/ });
  await form.getByLabel('Name').fill('Ada Lovelace');
  await form.getByLabel('Nights').fill('3');
  const pay = page.getByRole('region', { name: /^pay/ });
  await pay.getByRole('button', { name: 'Deny …' }).click();
  await pay.getByLabel('Why not?').fill('Too expensive.');
  await pay.getByRole('button', { name: 'Back' }).click();
  await pay.getByRole('button', { name: 'Edit …' }).click();
  await pay.getByLabel('Amount').fill('90');

  await endSessions(page);
  await signIn(page, path, 'Ada');
  const typed = async (): Promise<void> => {
    await expect.poll(() => form.getByLabel('Name').inputValue()).toBe('Ada Lovelace');
    expect(await form.getByLabel('Nights').inputValue()).toBe('3');
  };
  await typed();
  await pay.getByRole('button', { name: 'Edit …' }).click();
  expect(await pay.getByLabel('Amount').inputValue()).toBe('90');
  await pay.getByRole('button', { name: 'Back' }).click();
  await pay.getByRole('button', { name: 'Deny …' }).click();
  expect(await pay.getByLabel('Why not?').inputValue()).toBe('Too expensive.');

  await form.getByRole('button', { name: 'Write it as JSON' }).click();
  await page.reload();
  await expect.poll(() => form.getByLabel('JSON').inputValue()).toContain('Ada Lovelace');
  await form.getByRole('button', { name: 'Back to the fields' }).click();
  await typed();
  await form.getByRole('link', { name: 'run' }).click();
  await page.getByRole('region', { name: 'Timeline' }).waitFor();
  await page.goBack();
  await typed();
});

test('[S3] what was chosen in “Allow more” is still there after the session ended', async () => {
  const path = `/spaces/${space}`;
  const { page } = await studio.open(path);
  const pay = page.getByRole('region', { name: /^pay/ });
  await pay.getByRole('button', { name: 'Allow more …' }).click();
  await pay.getByLabel('For one hour').check();
  await pay.getByLabel(/^amount/).uncheck();
  await endSessions(page);
  await signIn(page, path, 'Ada');
  await pay.getByRole('button', { name: 'Allow more …' }).click();
  expect(await pay.getByLabel('For one hour').isChecked()).toBe(true);
  expect(await pay.getByLabel(/^amount/).isChecked()).toBe(false);
  expect(await pay.getByLabel(/^to:/).isChecked()).toBe(true);
});

test('[S3] nothing that was typed into a card is kept once the card is answered', async () => {
  const { page, problems } = await studio.open(`/spaces/${space}`);
  const pay = page.getByRole('region', { name: /^pay/ });
  await pay.getByRole('button', { name: 'Deny …' }).click();
  await pay.getByLabel('Why not?').fill('Too expensive.');
  const kept = () => page.evaluate(() => JSON.stringify(sessionStorage));
  expect(await kept()).toContain('Too expensive.');
  await clickStill(pay.getByRole('button', { name: 'Deny', exact: true }));
  await expect.poll(kept).not.toContain('Too expensive.');
  expect(problems).toEqual([]);
});

/** Opens the form for a new agent. */
async function newAgent(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: 'New agent' }).click();
  return page.getByRole('dialog').getByLabel('Name', { exact: true });
}

test('[S7] what was typed for a new agent, a new tool or an event is still there after the session ended, and not once it was sent', async () => {
  const [{ id }] = (await studio.gateway.api('/api/agents')).items;
  const { page, problems } = await studio.open('/agents');
  const dialog = page.getByRole('dialog');
  const kept = () => page.evaluate(() => JSON.stringify(sessionStorage));

  await (await newAgent(page)).fill('Porter');
  await dialog.getByLabel('Instructions').fill('Carry.');
  await dialog.getByRole('checkbox', { name: 'Desk' }).check();
  await endSessions(page);
  await signIn(page, '/agents', 'Ada');
  expect(await (await newAgent(page)).inputValue()).toBe('Porter');
  expect(await dialog.getByRole('checkbox', { name: 'Desk' }).isChecked()).toBe(true);
  await dialog.getByRole('checkbox', { name: 'Desk' }).uncheck();
  await dialog.getByRole('button', { name: 'Create agent' }).click();
  await page.getByRole('heading', { name: 'Porter' }).waitFor();
  expect(await kept()).not.toContain('"Carry."}');

  await page.goto(`${studio.gateway.url}/tools`);
  await page.getByRole('button', { name: 'New tool' }).click();
  const config = dialog.getByLabel('Configuration');
  await config.fill((await config.inputValue()).replace('exchange_rate', 'share_price'));
  await endSessions(page);
  await signIn(page, '/tools', 'Ada');
  await page.getByRole('button', { name: 'New tool' }).click();
  expect(await config.inputValue()).toContain('share_price');
  await dialog.getByRole('button', { name: 'Create tool' }).click();
  await page.getByRole('heading', { name: 'share_price' }).waitFor();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await config.fill((await config.inputValue()).replace('today', 'yesterday'));
  await page.reload();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  expect(await config.inputValue()).toContain('yesterday');
  await dialog.getByRole('button', { name: 'Save tool' }).click();
  await dialog.waitFor({ state: 'hidden' });

  await page.goto(`${studio.gateway.url}/agents/${id}?tab=inbox`);
  await page.getByRole('button', { name: 'Send an event' }).click();
  await dialog.getByLabel('Name').fill('order.sent');
  await dialog.getByLabel('Data').fill('{ "order": 7 }');
  await endSessions(page);
  await signIn(page, `/agents/${id}?tab=inbox`, 'Ada');
  await page.getByRole('button', { name: 'Send an event' }).click();
  expect(await dialog.getByLabel('Name').inputValue()).toBe('order.sent');
  expect(await dialog.getByLabel('Data').inputValue()).toBe('{ "order": 7 }');
  await dialog.getByRole('button', { name: 'Send', exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
  expect(await kept()).not.toMatch(/share_price|order\.sent/);
  expect(problems.filter((one) => !one.includes('401'))).toEqual([]);
});

test.each([
  ['an operator without a person', 'a person', '', 'Ada'],
  ['a person', 'an operator without a person', 'Ada', ''],
])('[S7] what %s typed is not shown to %s who signs in in the same tab', async (_, __, first, second) => {
  const { page } = await studio.open('/agents', { as: first });
  await (await newAgent(page)).fill('Secret');
  await endSessions(page);
  await signIn(page, '/agents', first);
  expect(await (await newAgent(page)).inputValue()).toBe('Secret');
  await endSessions(page);
  await signIn(page, '/agents', second);
  expect(await (await newAgent(page)).inputValue()).toBe('');
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('Secret');
});

test('[S7] what an operator typed while acting as a person is not shown to that person', async () => {
  const { page } = await studio.open('/settings?tab=browser', { as: 'Ben' });
  await page.getByLabel('Act as').selectOption('Ada');
  await page.getByRole('link', { name: 'Agents', exact: true }).click();
  await (await newAgent(page)).fill('Secret');
  await page.reload();
  expect(await (await newAgent(page)).inputValue()).toBe('Secret');
  await endSessions(page);
  await signIn(page, '/agents', 'Ada');
  expect(await (await newAgent(page)).inputValue()).toBe('');
});

test('[S7] what a person typed is not shown to another person who signs in in the same tab', async () => {
  const path = `/spaces/${space}`;
  const { page } = await studio.open(path);
  const field = page.getByRole('textbox', { name: 'Write to Desk' });
  const name = page.getByRole('region', { name: /^book_trip/ }).getByLabel('Name');
  await field.fill('Ada resigns.');
  await name.fill('Ada Lovelace');
  await endSessions(page);
  await signIn(page, path, 'Ben');
  await name.waitFor();
  expect(await field.inputValue()).toBe('');
  expect(await name.inputValue()).toBe('');
});

test('[S7] what a person typed is not shown to another person who signs in in another tab of the browser', async () => {
  const path = `/spaces/${space}`;
  const { page } = await studio.open('/inbox');
  await signIn(page, path, 'Ada');
  const field = page.getByRole('textbox', { name: 'Write to Desk' });
  const name = page.getByRole('region', { name: /^book_trip/ }).getByLabel('Name');
  await field.fill('Ada resigns.');
  await name.fill('Ada Lovelace');
  const other = await page.context().newPage();
  await signIn(other, path, 'Ben');
  await other.getByRole('textbox', { name: 'Write to Desk' }).waitFor();
  await expect.poll(() => field.inputValue()).toBe('');
  await expect.poll(() => name.inputValue()).toBe('');
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('Ada');
});

test('[S7] what was edited in a configuration is still there after the session ended, until the user leaves it without saving', async () => {
  const [{ id }] = (await studio.gateway.api('/api/agents')).items;
  const path = `/agents/${id}?tab=config`;
  const { page } = await studio.open(path);
  const instructions = page.getByLabel('Instructions');
  await instructions.fill('Ask politely.');
  await endSessions(page);
  await signIn(page, path, 'Ada');
  await expect.poll(() => instructions.inputValue()).toBe('Ask politely.');
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { name: 'What it is' }).waitFor();
  await page.getByRole('link', { name: 'Configuration' }).click();
  await expect.poll(() => instructions.inputValue()).toBe('Ask.');
});

test('[S7] a page goes on if the tab has no room for a draft, and opens if a kept draft cannot be read', async () => {
  const [{ id }] = (await studio.gateway.api('/api/agents')).items;
  const { page, problems } = await studio.open(`/spaces/${space}`);
  const fill = () =>
    page.evaluate(() => {
      for (let size = 1_000_000; size >= 1; size = Math.floor(size / 2))
        try {
          for (;;) sessionStorage.setItem(`full.${sessionStorage.length}`, 'x'.repeat(size));
        } catch {
          // The next text is shorter.
        }
    });
  await fill();
  const field = page.getByRole('textbox', { name: 'Write to Desk' });
  await field.fill('Where are you?');
  expect(await field.inputValue()).toBe('Where are you?');
  await page.goto(`${studio.gateway.url}/agents/${id}?tab=config`);
  const instructions = page.getByLabel('Instructions');
  await instructions.fill('Ask politely.');
  await page.getByText('Not saved yet.').waitFor();
  expect(await instructions.inputValue()).toBe('Ask politely.');
  await page.evaluate((name) => {
    sessionStorage.clear();
    sessionStorage.setItem(name, '{');
  }, `lastcall.draft.agent.${id}.form`);
  await page.goto(`${studio.gateway.url}/spaces/${space}`);
  await page.goto(`${studio.gateway.url}/agents/${id}?tab=config`);
  await expect.poll(() => instructions.inputValue()).toBe('Ask.');
  expect(problems).toEqual([]);
});

test('[S8] what was typed into the dialogs of a new space, a fork and a case is still there after the session ended', async () => {
  const { api } = studio.gateway;
  const run = (await api('/api/runs?limit=50')).items.find(
    ({ endedAt }: { endedAt?: number }) => endedAt !== undefined,
  );
  const { page } = await studio.open('/spaces');
  const dialogs = [
    ['/spaces', 'New space', { Name: 'Travel', Description: 'Trips of the team' }],
    [`/runs/${run.id}`, 'Make a case …', { 'Expected answer': 'It asks who travels.', Evaluation: 'Desk' }],
    [`/runs/${run.id}?call=step-1`, 'From here …', { 'Add a message': 'Ask less.', 'Other model': 'small' }],
  ] as const;
  for (const [path, button, fields] of dialogs) {
    await page.goto(studio.gateway.url + path);
    const open = () => page.getByRole('button', { name: button }).first().click();
    await open();
    const field = (label: string) => page.getByRole('dialog').getByLabel(label);
    for (const [label, text] of Object.entries(fields)) await field(label).fill(text);
    await endSessions(page);
    await signIn(page, path, 'Ada');
    await open();
    for (const [label, text] of Object.entries(fields)) expect(await field(label).inputValue()).toBe(text);
  }
});
