import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBrowser } from './support/browser.ts';
import { type Studio, startStudio } from './support/studio.ts';

const browser = useBrowser();
let studio: Studio;

beforeAll(async () => {
  studio = await startStudio(browser());
});
afterAll(async () => await studio[Symbol.asyncDispose]());

test('[S7] a key is created with a scope, shown once, used, and revoked after a confirmation', async () => {
  const { page, problems } = await studio.open('/settings?tab=keys');
  await page.getByLabel('Name').fill('ci');
  await page.getByRole('radio', { name: /^read/ }).check();
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = await page.getByRole('textbox', { name: 'The new key' }).inputValue();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy' }).click();
  await page.getByText('Copied.').waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
  expect((await studio.gateway.request('/api/agents', undefined, { key })).status).toBe(200);
  expect((await studio.gateway.request('/api/agents', { name: 'x', instructions: '' }, { key })).status).toBe(403);

  const row = page.getByRole('list', { name: 'Keys' }).getByRole('listitem').filter({ hasText: '“ci”' });
  await row.getByRole('button', { name: 'Revoke ci' }).click();
  await page.getByRole('dialog', { name: 'Revoke “ci”?' }).getByRole('button', { name: 'Revoke' }).click();
  await row.getByText('revoked').waitFor();
  expect((await studio.gateway.request('/api/agents', undefined, { key })).status).toBe(401);
  // It was shown once.
  await page.reload();
  await row.getByText('revoked').waitFor();
  expect(await page.getByRole('textbox', { name: 'The new key' }).count()).toBe(0);
  expect(problems).toEqual([]);
});

test('a person is added, gets a link that signs in once, and a second browser shows that it was used', async () => {
  const { page, problems } = await studio.open('/settings?tab=people');
  await page.getByLabel('Name').fill('Grace');
  await page.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('button', { name: 'Sign-in link for Grace' }).click();
  const dialog = page.getByRole('dialog', { name: 'Sign-in link for Grace' });
  await dialog.getByRole('button', { name: 'Create the link' }).click();
  const link = await dialog.getByRole('textbox', { name: 'The sign-in link' }).inputValue();

  const grace = await (await browser().newContext()).newPage();
  await grace.goto(link.replace('/#', '/settings#'));
  await grace.getByText('the person’s rights: read and write in their spaces').waitFor();
  await expect.poll(() => grace.getByRole('definition').first().textContent()).toBe('Grace');
  expect(grace.url()).toBe(`${studio.gateway.url}/settings`);
  // If it is opened again in the same browser, she is still signed in.
  await grace.goto('about:blank');
  await grace.goto(link.replace('/#', '/settings#'));
  await grace.getByRole('heading', { name: 'Settings' }).waitFor();

  const other = await (await browser().newContext()).newPage();
  await other.goto(link);
  await other.getByText('This link has already been used.').waitFor();
  await other.getByText('A link works once. If you did not use it').waitFor();
  expect(other.url()).not.toContain('#');
  expect(problems).toEqual([]);
});

test('[G66] a link that was not used is listed, and does not sign in once it was revoked', async () => {
  const { page, problems } = await studio.open('/settings?tab=sessions');
  const person = await studio.gateway.api('/api/entities', { kind: 'human', displayName: 'Mary' });
  const { url } = await studio.gateway.api('/api/links', { entityId: person.id });
  await page.reload();
  const row = page.getByRole('list', { name: 'Links' }).getByRole('listitem').filter({ hasText: 'Mary' });
  await row.getByRole('button', { name: 'Revoke the link for Mary' }).click();
  await page.getByRole('dialog', { name: 'Revoke the link for Mary?' }).getByRole('button', { name: 'Revoke' }).click();
  await row.waitFor({ state: 'detached' });
  const other = await (await browser().newContext()).newPage();
  await other.goto(url);
  await other.getByRole('heading', { name: 'Sign in to Lastcall' }).waitFor();
  const { items } = await studio.gateway.api('/api/sessions');
  expect(JSON.stringify(items)).not.toContain('Mary');
  expect(problems).toEqual([]);
});

test('[S7] a session that is revoked in one browser ends the page of the other, and says why', async () => {
  const ada = await studio.open('/settings?tab=sessions');
  await ada.page.getByText('this browser').waitFor();
  const ben = await studio.open('/agents', { scopes: ['read'] });
  await ben.page.getByRole('link', { name: 'Concierge', exact: true }).waitFor();
  const rows = ada.page.getByRole('list', { name: 'Sessions' }).getByRole('listitem');
  await rows
    .filter({ hasText: /^Adaread/ })
    .getByRole('button')
    .click();
  await ben.page.evaluate(() => sessionStorage.setItem('lastcall.draft.space', 'I will write on.'));
  await ada.page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await ben.page.getByText('Your session has ended.').waitFor();
  // After a sign-in with a key the page is the same. It acts as no person, and does not show what Ada has typed: drafts.test.ts has her return.
  await ben.page.getByLabel('Secret key').fill(studio.gateway.secretKey);
  await ben.page.getByRole('button', { name: 'Sign in' }).click();
  await ben.page.getByRole('heading', { name: 'Agents' }).waitFor();
  expect(await ben.page.evaluate(() => sessionStorage.getItem('lastcall.draft.space'))).toBe(null);
  expect(ada.problems).toEqual([]);
  // A refused request is an error of the console.
  expect(ben.problems.filter((one) => !one.includes('401'))).toEqual([]);
});

test('[S7] what a person has loaded is not shown to the next one who signs in with the same tab', async () => {
  const { page, problems } = await studio.open('/agents');
  const known = page.getByRole('main').getByRole('link', { name: 'Concierge', exact: true });
  const agents = page.getByRole('navigation').getByRole('link', { name: 'Agents', exact: true });
  await known.waitFor();
  await page.getByRole('navigation').getByRole('link', { name: 'Settings', exact: true }).click();
  await page.evaluate(() => sessionStorage.setItem('lastcall.draft.space', 'It is secret.'));
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').waitFor();
  expect(await page.evaluate(() => sessionStorage.getItem('lastcall.draft.space'))).toBe(null);
  // The next person's list is still on its way.
  await page.route(/\/api\/agents/, () => {});
  await page.getByLabel('Secret key').fill(studio.gateway.secretKey);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await Promise.all([page.waitForRequest(/\/api\/agents/), agents.click()]);
  await page.getByRole('heading', { name: 'Agents' }).waitFor();
  expect(await known.count()).toBe(0);
  expect(problems.filter((one) => !one.includes('401'))).toEqual([]);
});

test('[S7] an operator acts for another person in one tab, and signs out there: the other tabs of the browser show it', async () => {
  const { page, problems } = await studio.open('/settings');
  const second = await page.context().newPage();
  await second.goto(`${studio.gateway.url}/runs`);
  const nameIn = (tab: Page, name: string) =>
    tab.getByRole('banner').or(tab.locator('bdi')).getByText(name, { exact: true });
  await nameIn(second, 'Ada').first().waitFor();
  await page.getByLabel('Act as').selectOption('No person');
  await nameIn(second, 'operator').first().waitFor();
  await page.getByLabel('Act as').selectOption('Ada');
  await nameIn(second, 'Ada').first().waitFor();
  // Changed without a message between tabs: a tab shows the person when it is focused again.
  const status = await page.evaluate(async () => {
    const body = JSON.stringify({ entityId: null });
    return (await fetch('/api/session', { method: 'PATCH', headers: { 'content-type': 'application/json' }, body }))
      .status;
  });
  expect(status).toBe(200);
  expect(await nameIn(second, 'Ada').count()).toBe(1);
  await second.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await nameIn(second, 'operator').first().waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await second.getByText('You are signed out.').waitFor();
  expect(problems.filter((one) => !one.includes('401'))).toEqual([]);
});

test('[S7] an operator acts for another person, chooses a theme, switches single keys off, and signs out', async () => {
  await studio.gateway.api('/api/entities', { kind: 'human', displayName: 'Linus' });
  const { page, problems } = await studio.open('/settings');
  await page.getByLabel('Act as').selectOption('Linus');
  await page.getByRole('main').or(page.locator('body')).getByText('Linus', { exact: true }).first().waitFor();
  await page.getByRole('radio', { name: 'dark' }).check();
  await expect.poll(() => page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe('rgb(13, 13, 12)');
  await page.getByRole('checkbox', { name: /^Single keys/ }).uncheck();
  await page.reload();
  await page.getByRole('heading', { name: 'Settings' }).focus();
  await expect.poll(() => page.getByRole('radio', { name: 'dark' }).isChecked()).toBe(true);
  await expect.poll(() => page.getByRole('definition').first().textContent()).toBe('Linus');
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  expect(page.url()).toBe(`${studio.gateway.url}/settings`);
  await page.getByRole('link', { name: 'Gateway' }).click();
  await page.getByText('Nothing is set up wrong.').waitFor();
  await page.getByRole('link', { name: 'You', exact: true }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in to Lastcall' }).waitFor();
  expect(problems.filter((one) => !one.includes('401'))).toEqual([]);
});

test('a page on another port of the same host is refused, though the browser sends the cookie along', async () => {
  const { page, problems } = await studio.open('/settings');
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
  const stranger = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<h1>Hello</h1>'));
  await new Promise<void>((listening) => stranger.listen(0, '127.0.0.1', listening));
  try {
    const second = await page.context().newPage();
    await second.goto(`http://127.0.0.1:${(stranger.address() as AddressInfo).port}/`);
    const { length: before } = (await studio.gateway.api('/api/agents')).items;
    await second.evaluate(async (url) => {
      const body = JSON.stringify({ name: 'Intruder', instructions: '' });
      // Without a preflight, like a form.
      await fetch(`${url}/api/agents`, { method: 'POST', body, mode: 'no-cors', credentials: 'include' }).catch(
        () => {},
      );
      await fetch(`${url}/api/session`, { mode: 'no-cors', credentials: 'include' }).catch(() => {});
    }, studio.gateway.url);
    const read = await second.evaluate(
      async (url) =>
        await fetch(`${url}/api/agents`, { credentials: 'include' }).then(
          () => 'read',
          () => 'refused',
        ),
      studio.gateway.url,
    );
    expect(read).toBe('refused');
    expect((await studio.gateway.api('/api/agents')).items).toHaveLength(before);
  } finally {
    stranger.close();
  }
  expect(problems).toEqual([]);
});
