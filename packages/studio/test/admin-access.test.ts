import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityProblems } from './support/accessibility.ts';
import { useBrowser } from './support/browser.ts';
import { goTo } from './support/go-to.ts';
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

/** An address, an element that shows that it has loaded, and whether the dark theme is checked too: pictures.test.ts checks the others. */
type Shown = readonly [path: string, mark: Locator, isInDark?: boolean];

const PARTS: Readonly<Record<string, (page: Page) => readonly Shown[]>> = {
  Agents: (page) => [
    ['/agents', page.getByRole('link', { name: 'Concierge', exact: true })],
    [agentPage, page.getByText('Active: it handles events'), true],
    [`${agentPage}?tab=config`, page.getByRole('checkbox', { name: /^book_hotel/ })],
    [`${agentPage}?tab=inbox`, page.getByText('No event has arrived yet.'), true],
    [`${agentPage}?tab=memory`, page.getByText('None. It sets goals itself'), true],
    [`${agentPage}?tab=plans`, page.getByText('No plans.'), true],
  ],
  Tools: (page) => [
    ['/tools', page.getByRole('link', { name: 'book_hotel' })],
    ['/tools/book_hotel', page.getByText('This really acts.'), true],
  ],
  Settings: (page) => [
    ['/settings', page.getByLabel('Act as'), true],
    ['/settings?tab=gateway', page.getByRole('heading', { name: 'Models' }), true],
    ['/settings?tab=keys', page.getByRole('button', { name: /^Revoke/ })],
    ['/settings?tab=people', page.getByText('demo:ada')],
    ['/settings?tab=sessions', page.getByText('this browser').first()],
    ['/settings?tab=mcp', page.getByText('No MCP server is in use.')],
  ],
};

test.each(Object.entries(PARTS))(
  '[S8] pages of %s have names and contrast, light and narrow, dark and wide, and fit into the window',
  async (part, shown) => {
    const { page, problems } = await studio.open('/settings', { width: 380 });
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    /** The page follows the theme of the system, which changes while it is open. */
    const expectUsable = async (path: string, width: number, colorScheme: 'light' | 'dark'): Promise<void> => {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      expect([path, colorScheme, await accessibilityProblems(page)]).toEqual([path, colorScheme, []]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    };
    for (const [path, mark, isInDark = false] of shown(page)) {
      await goTo(page, path);
      await mark.waitFor();
      const place = page.getByRole('link', { name: part, exact: true }).first();
      expect(await place.getAttribute('aria-current')).toBe('page');
      await expectUsable(path, 380, 'light');
      if (isInDark) await expectUsable(path, 1_200, 'dark');
    }
    expect(problems).toEqual([]);
  },
);
