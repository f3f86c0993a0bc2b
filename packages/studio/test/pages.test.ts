import { expect, test } from 'vitest';
import { useBrowser } from './support/browser.ts';
import { leavePages } from './support/pages.ts';
import { startStudio } from './support/studio.ts';

const browser = useBrowser();

test('a page that another test has used has no state of it', async () => {
  await using studio = await startStudio(browser());
  const { page } = await studio.open('/settings', { theme: 'dark', width: 380 });
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
  await page.evaluate(() => {
    localStorage.setItem('lastcall.theme', 'dark');
    sessionStorage.setItem('lastcall.project', 'acme');
  });
  await page.route('**/api/**', (route) => route.abort());
  const second = await page.context().newPage();
  await leavePages(browser(), studio.gateway.url);
  expect(second.isClosed()).toBe(true);

  const { page: again, problems } = await studio.open('/agents');
  expect(again).toBe(page);
  await again.getByRole('link', { name: 'Concierge', exact: true }).waitFor();
  const known = await again.evaluate(() => [
    localStorage.getItem('lastcall.theme'),
    sessionStorage.getItem('lastcall.project'),
    matchMedia('(prefers-color-scheme: dark)').matches,
    innerWidth,
  ]);
  expect(known).toEqual([null, null, false, 1_200]);
  expect(problems).toEqual([]);
  await leavePages(browser(), studio.gateway.url);
  await again.goto(`${studio.gateway.url}/agents`);
  await again.getByRole('heading', { name: 'Sign in to Lastcall' }).waitFor();
});
