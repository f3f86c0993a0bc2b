import { expect, test } from 'vitest';
import { useBrowser } from './support/browser.ts';
import { startStudio } from './support/studio.ts';

const browser = useBrowser();

test('[S1] a link signs in once, and its code does not stay in the address', async () => {
  await using studio = await startStudio(browser());
  const { page, problems } = await studio.open('/settings');
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
  expect(page.url()).toBe(`${studio.gateway.url}/settings`);
  expect(problems).toEqual([]);
});
