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

test.each([
  { theme: 'light', width: 380 },
  { theme: 'dark', width: 1_200 },
] as const)(
  '[S8] agents, tools and settings have names for everything in the $theme theme, and fit into $width px',
  async (look) => {
    const { page, problems } = await studio.open('/agents', look);
    const shown = [
      ['Agents', '', page.getByRole('link', { name: 'Concierge', exact: true })],
      ['Agents', agentPage, page.getByText('Active: it takes up')],
      ['Agents', `${agentPage}?tab=config`, page.getByRole('checkbox', { name: /^book_hotel/ })],
      ['Agents', `${agentPage}?tab=inbox`, page.getByText('Nothing has arrived yet.')],
      ['Agents', `${agentPage}?tab=mind`, page.getByText('None. It sets goals itself'), 'narrow'],
      ['Agents', `${agentPage}?tab=plans`, page.getByText('No plans.'), 'narrow'],
      ['Tools', '/tools', page.getByRole('link', { name: 'book_hotel' })],
      ['Tools', '/tools/book_hotel', page.getByText('This really acts.')],
      ['Settings', '/settings', page.getByLabel('Act as')],
      ['Settings', '/settings?tab=gateway', page.getByRole('heading', { name: 'Models' })],
      ['Settings', '/settings?tab=keys', page.getByRole('button', { name: /^Revoke/ })],
      ['Settings', '/settings?tab=people', page.getByText('demo:ada')],
      ['Settings', '/settings?tab=sessions', page.getByText('this browser'), 'narrow'],
      ['Settings', '/settings?tab=mcp', page.getByText('No MCP server is in use.'), 'narrow'],
    ] as const;
    for (const [rail, path, mark, only] of shown) {
    // Nothing on these has a colour that the others have not.
    if (only === 'narrow' && look.width > 380) continue;
      if (path !== '') await page.goto(studio.gateway.url + path);
      await mark.first().waitFor();
      expect(await page.getByRole('link', { name: rail, exact: true }).first().getAttribute('aria-current')).toBe(
        'page',
      );
      expect([path, await accessibilityProblems(page)]).toEqual([path, []]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(look.width);
    }
    expect(problems).toEqual([]);
  },
);
