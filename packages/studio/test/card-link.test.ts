import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { waitFor } from '@lastcall/gateway/testing';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startWebSite, type WebSite } from '../../gateway/test/support/web-site.ts';
import { accessibilityProblems } from './support/accessibility.ts';
import { useBrowser } from './support/browser.ts';
import { type Studio, startStudio } from './support/studio.ts';

const browser = useBrowser();
let site: WebSite;
let studio: Studio;

beforeAll(async () => {
  site = await startWebSite((request, response) => response.writeHead(request.url === '/broken' ? 500 : 200).end());
  const signingSecret = '${env.NOTIFY_KEY}';
  studio = await startStudio(browser(), {
    model: scriptedModel(({ prompt }) =>
      JSON.stringify(prompt.at(-1)).includes('Please pay.')
        ? { toolName: 'send_money', input: { amount: 5 } }
        : 'Fine.',
    ),
    agents: [{ name: 'Clerk', instructions: 'Pay.', tools: ['send_money'] }],
    spaces: [{ name: 'Office', agents: ['Clerk'], people: [{ name: 'Ada', externalId: 'ada' }] }],
    tools: {
      send_money: tool({
        description: 'Sends money.',
        inputSchema: z.object({ amount: z.number() }),
        approval: true,
        execute: () => 'sent',
      }),
    },
    notify: {
      ada: { webhook: { url: site.url, signingSecret }, person: { externalId: 'ada' }, events: ['call.waiting'] },
      broken: { webhook: { url: `${site.url}/broken`, signingSecret }, events: ['limit.reached'] },
    },
    secrets: ['NOTIFY_KEY'],
    env: { NOTIFY_KEY: 'a-secret-of-the-test' },
    egress: { allow: [site.host] },
  });
});
afterAll(async () => {
  await studio[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

/** Makes the agent ask, and returns the link that Ada gets. */
async function ask(): Promise<{ link: string; callId: string }> {
  const before = site.requests.length;
  const [{ id }] = (await studio.gateway.api('/api/spaces')).items;
  await studio.gateway.api(`/api/spaces/${id}/messages`, { entityId: await studio.person('Ada'), text: 'Please pay.' });
  const { body } = await waitFor(() => site.requests.slice(before).find(({ url }) => url === '/'));
  const { link, call } = JSON.parse(body);
  return { link: link.url, callId: call.id };
}

/** A phone without a browser session. */
async function openPhone(): Promise<{ page: Page; context: BrowserContext; problems: string[] }> {
  const context = await browser().newContext({ viewport: { width: 360, height: 740 }, hasTouch: true });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => void problems.push(error.message));
  page.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())));
  return { page, context, problems };
}

test('[O8] a link opens the one card on a phone, without a sign-in, and the answer counts', async () => {
  const { link, callId } = await ask();
  const { page, context, problems } = await openPhone();
  await page.goto(link);
  const button = page.getByRole('button', { name: 'Open the card' });
  await button.waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  // Loading the page does not use the link up.
  await page.reload();
  await button.click();
  await page.getByText('You answer as Ada.').waitFor();
  expect(page.url()).toBe(`${studio.gateway.url}/card`);
  const card = page.locator(`[data-card="${callId}"]`);
  await card.waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  expect(await card.getByRole('button', { name: /Allow more/ }).count()).toBe(0);
  // The tab keeps the token of the link.
  await page.reload();
  await card.getByRole('button', { name: 'Approve', exact: true }).click();
  await waitFor(async () => (await studio.gateway.api(`/api/calls/${callId}`)).pending.status === 'resolved');
  expect((await studio.gateway.api(`/api/calls/${callId}`)).pending.resolvedBy).toBe(await studio.person('Ada'));
  await card.and(page.locator('[data-status="complete"], [data-status="answered"]')).waitFor();
  // The browser has no session: the rest of the studio asks for a sign-in.
  expect(await context.cookies()).toEqual([]);
  expect(problems).toEqual([]);
});

test('[O8] a link that was used says so, and where to sign in instead', async () => {
  const { link } = await ask();
  const first = await openPhone();
  await first.page.goto(link);
  await first.page.getByRole('button', { name: 'Open the card' }).click();
  await first.page.getByText('You answer as Ada.').waitFor();
  const { page } = await openPhone();
  await page.goto(link);
  await page.getByRole('button', { name: 'Open the card' }).click();
  const note = page.getByRole('alert');
  await note.getByText('This link no longer works.').waitFor();
  await note.getByText(/was used before/).waitFor();
  expect(await note.getByRole('link', { name: 'the studio' }).getAttribute('href')).toBe('/inbox');
  await page.goto(`${studio.gateway.url}/card`);
  await page.getByText('This address has no code').waitFor();
});

test('[O8] a user who is signed in stays signed in when a link is opened', async () => {
  const { link } = await ask();
  const { page } = await studio.open('/settings');
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
  await page.goto(link);
  await page.getByRole('button', { name: 'Open the card' }).click();
  await page.getByText('You answer as Ada.').waitFor();
  await page.goto(`${studio.gateway.url}/settings?tab=keys`);
  await page.getByRole('button', { name: 'Create key' }).waitFor();
});

test('[O8] what a user typed into a card is not shown to the person of a link in the same tab, nor the other way round', async () => {
  const { link, callId } = await ask();
  const path = `/inbox?call=${callId}`;
  const { page } = await studio.open(path, { as: '' });
  const card = page.locator(`[data-card="${callId}"]`);
  const reason = card.getByLabel('Why not?');
  const reasonBefore = async (): Promise<string> => {
    await card.getByRole('button', { name: 'Deny …' }).click();
    return await reason.inputValue();
  };
  expect(await reasonBefore()).toBe('');
  await reason.fill('Said the operator.');
  await page.goto(link);
  await page.getByRole('button', { name: 'Open the card' }).click();
  expect(await reasonBefore()).toBe('');
  await reason.fill('Said Ada.');
  await page.goto(studio.gateway.url + path);
  expect(await reasonBefore()).toBe('');
});

test('[O8] the settings list targets and notifications, test a target, and show one that fails', async () => {
  await ask();
  const { page, problems } = await studio.open('/settings?tab=notifications');
  const targets = page.getByRole('list', { name: 'Targets' });
  await targets.getByText('webhook, call.waiting').waitFor();
  await page.getByRole('list', { name: 'Notifications' }).getByText('call.waiting to ada').first().waitFor();
  await page.getByRole('button', { name: 'Send a test to broken' }).click();
  await targets.getByText('The newest notification did not arrive: It answered HTTP 500.').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  expect(problems).toEqual([]);
});

test('[O8] a link to a call opens its card for a person who may answer it and may not see runs', async () => {
  const { callId } = await ask();
  const { page, problems } = await studio.open(`/calls/${callId}`, { scopes: [] });
  await page
    .getByRole('region', { name: /^send_money, waits/ })
    .getByRole('button', { name: 'Approve' })
    .waitFor();
  expect(new URL(page.url()).searchParams.get('call')).toBe(callId);
  expect(problems).toEqual([]);
});
