import { mkdirSync, readdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@lastcall/gateway/testing';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityProblems, colourProblems } from './support/accessibility.ts';
import { useBrowser } from './support/browser.ts';
import { type Studio, startStudio } from './support/studio.ts';

// `npm run pictures` writes them; a run of all tests checks the same pages and changes no files.
const folder = join(import.meta.dirname, '../../../docs/pictures');
const isWriting = process.env.LASTCALL_PICTURES === '1';

const browser = useBrowser();
let studio: Studio;
let pages: readonly Shown[];

interface Shown {
  readonly name: string;
  readonly path: string;
  /** The heading that is visible once the page is open. */
  readonly heading: string | RegExp;
  /** A text that is visible once it shows its content. */
  readonly text: string | RegExp;
}

beforeAll(async () => {
  studio = await startStudio(browser());
  pages = await pagesWithContent(studio);
});
afterAll(async () => await studio[Symbol.asyncDispose]());

/** The demo after a few messages: one call waits, one payment was made, one call failed. */
async function pagesWithContent({ gateway: { api } }: Studio): Promise<readonly Shown[]> {
  const spaces = (await api('/api/spaces')).items as { id: string; name: string }[];
  const people = (await api('/api/entities?kind=human')).items as { id: string; displayName: string }[];
  const idOf = (name: string): string => spaces.find((one) => one.name === name)?.id ?? '';
  const entityId = people.find((one) => one.displayName === 'Ada')?.id;
  // Some runs wait for an answer.
  const endedRuns = async (): Promise<number> =>
    ((await api('/api/runs')).items as { endedAt?: number }[]).filter(({ endedAt }) => endedAt !== undefined).length;
  const say = async (space: string, text: string): Promise<void> => {
    const before = await endedRuns();
    await api(`/api/spaces/${idOf(space)}/messages`, { entityId, text });
    await waitFor(async () => (await endedRuns()) > before || undefined, { timeoutMs: 60_000 });
  };
  await say('Travel desk', 'What is the weather in Tokyo?');
  await say('Travel desk', 'Book a hotel in Tokyo for 3 nights, please.');
  await say('Accounts', 'Import the receipts of October.');
  await say('Accounts', 'Pay invoice 4711, amount 120.');
  await say('Research', 'Report on the weather in Tokyo.');
  const runs = (await api('/api/runs')).items as { id: string; agentId: string; counts: { error: number } }[];
  const failed = runs.find(({ counts }) => counts.error > 0) ?? runs[0];
  const other = runs.find(({ id, agentId }) => id !== failed?.id && agentId === failed?.agentId);
  return [
    {
      name: 'space',
      path: `/spaces/${idOf('Travel desk')}`,
      heading: 'Travel desk',
      text: 'I asked for a confirmation',
    },
    { name: 'home', path: '/', heading: 'Home', text: 'Waiting for you' },
    { name: 'inbox', path: '/inbox', heading: 'Inbox', text: 'pay_invoice' },
    { name: 'runs', path: '/runs', heading: 'Runs', text: 'Clerk, run 1' },
    { name: 'run', path: `/runs/${failed?.id}`, heading: /./, text: 'import_receipts' },
    {
      name: 'compare',
      path: `/runs/${failed?.id}/compare/${other?.id}`,
      heading: /^Compare “Ada: /,
      text: 'import_receipts',
    },
    { name: 'agents', path: '/agents', heading: 'Agents', text: 'Concierge' },
    { name: 'agent', path: `/agents/${failed?.agentId}?tab=config`, heading: 'Clerk', text: 'Instructions' },
    { name: 'tools', path: '/tools', heading: 'Tools', text: 'book_hotel' },
    { name: 'settings', path: '/settings?tab=keys', heading: 'Settings', text: 'admin' },
  ];
}

test('[S8] [S13] every page is accessible in the light and the dark theme, and fits into 380 px', async () => {
  const { page, problems } = await studio.open('/inbox');
  // Waits until the page is signed in: leaving it before would prevent that.
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  for (const shown of pages) {
    await show(page, shown);
    await take(page, `${shown.name}-light`);
    expect([shown.name, await accessibilityProblems(page)]).toEqual([shown.name, []]);
    // The page follows the system while it is open.
    await page.emulateMedia({ colorScheme: 'dark' });
    await take(page, `${shown.name}-dark`);
    expect([shown.name, 'dark', await colourProblems(page)]).toEqual([shown.name, 'dark', []]);
    await page.setViewportSize({ width: 380, height: 740 });
    await take(page, `${shown.name}-narrow-dark`);
    expect([shown.name, await widthBeyond(page)]).toEqual([shown.name, 0]);
    await page.emulateMedia({ colorScheme: 'light' });
    await take(page, `${shown.name}-narrow-light`);
    await page.setViewportSize({ width: 1_200, height: 800 });
  }
  expect(problems).toEqual([]);
});

test('[S20] the documentation has a picture of every page, light and dark', () => {
  const there = readdirSync(folder);
  const wanted = pages.flatMap(({ name }) => [`${name}-light.png`, `${name}-dark.png`]);
  expect(wanted.filter((name) => !there.includes(name))).toEqual([]);
});

async function show(page: Page, { path, heading, text }: Shown): Promise<void> {
  await page.goto(studio.gateway.url + path);
  await page.getByRole('heading', { name: heading }).first().waitFor();
  await page.getByText(text).first().waitFor();
  // Buttons of a new card are dimmed for a moment.
  await expect
    .poll(() => page.locator('[data-card] [aria-disabled=true], section [aria-disabled=true]').count())
    .toBe(0);
}

/** How far the page can be scrolled sideways: nothing may be cut off on a phone. */
async function widthBeyond(page: Page): Promise<number> {
  return await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
}

async function take(page: Page, name: string): Promise<void> {
  if (!isWriting) return;
  mkdirSync(folder, { recursive: true });
  await page.evaluate(hideName, hostname());
  await page.screenshot({ animations: 'disabled', caret: 'hide', path: join(folder, `${name}.png`) });
}

/** Removes the name of the machine from the pictures. */
function hideName(name: string): void {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode())
    if (node.nodeValue?.includes(name)) node.nodeValue = node.nodeValue.replace(name, 'my-computer');
}
