import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityProblems } from './support/accessibility.ts';
import { useBrowser } from './support/browser.ts';
import { type Studio, startStudio } from './support/studio.ts';

const browser = useBrowser();
let studio: Studio;
let agentPage: string;

beforeAll(async () => {
  studio = await startStudio(browser());
  const { items } = await studio.gateway.api('/api/agents');
  agentPage = `/agents/${items[0].id}`;
});
afterAll(async () => await studio[Symbol.asyncDispose]());

/** The addresses of a part of the studio, each with what shows that it is there. */
type Shown = (page: Page) => readonly (readonly [path: string, mark: Locator])[];

const AGENTS: Shown = (page) => [
  ['/agents', page.getByRole('link', { name: 'Concierge', exact: true })],
  [agentPage, page.getByText('Active: it handles events')],
  [`${agentPage}?tab=config`, page.getByRole('checkbox', { name: /^book_hotel/ })],
  [`${agentPage}?tab=inbox`, page.getByText('No event has arrived yet.')],
];
const REST_OF_AGENT: Shown = (page) => [
  [`${agentPage}?tab=memory`, page.getByText('None. It sets goals itself')],
  [`${agentPage}?tab=plans`, page.getByText('No plans.')],
];
const TOOLS: Shown = (page) => [
  ['/tools', page.getByRole('link', { name: 'book_hotel' })],
  ['/tools/book_hotel', page.getByText('This really acts.')],
];
const SETTINGS: Shown = (page) => [
  ['/settings', page.getByLabel('Act as')],
  ['/settings?tab=gateway', page.getByRole('heading', { name: 'Models' })],
  ['/settings?tab=keys', page.getByRole('button', { name: /^Revoke/ })],
];
const REST_OF_SETTINGS: Shown = (page) => [
  ['/settings?tab=people', page.getByText('demo:ada')],
  ['/settings?tab=sessions', page.getByText('this browser').first()],
  ['/settings?tab=mcp', page.getByText('No MCP server is in use.')],
];

test.each([
  { part: 'Agents', theme: 'light', width: 380, shown: AGENTS },
  { part: 'Agents', theme: 'dark', width: 1_200, shown: AGENTS },
  { part: 'Agents', theme: 'dark', width: 380, shown: REST_OF_AGENT },
  { part: 'Tools', theme: 'light', width: 380, shown: TOOLS },
  { part: 'Tools', theme: 'dark', width: 1_200, shown: TOOLS },
  { part: 'Settings', theme: 'light', width: 380, shown: SETTINGS },
  { part: 'Settings', theme: 'dark', width: 1_200, shown: SETTINGS },
  { part: 'Settings', theme: 'light', width: 380, shown: REST_OF_SETTINGS },
] as const)(
  '[S8] pages of $part have names and contrast in the $theme theme, and fit into $width px',
  async ({ part, shown, ...look }) => {
    const { page, problems } = await studio.open('/settings', look);
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    for (const [path, mark] of shown(page)) {
      await page.goto(studio.gateway.url + path);
      await mark.waitFor();
      const place = page.getByRole('link', { name: part, exact: true }).first();
      expect(await place.getAttribute('aria-current')).toBe('page');
      expect([path, await accessibilityProblems(page)]).toEqual([path, []]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(look.width);
    }
    expect(problems).toEqual([]);
    await page.context().close();
  },
);
