import { waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { calls, deskOptions, runOf, say } from './run/desk.ts';
import { accessibilityProblems } from './support/accessibility.ts';
import { useBrowser } from './support/browser.ts';
import { startStudio } from './support/studio.ts';

const browser = useBrowser();

test('[S27] a search shows where the words are, and each result is one click from its message or its call', async () => {
  const replies = [calls(['fetch_weather', { city: 'Reykjavik' }]), 'It is clear.'];
  await using studio = await startStudio(browser(), deskOptions(replies));
  const { gateway } = studio;
  await runOf(gateway, await say(gateway, 'How is the weather in Reykjavik, <b>really</b>?'));
  const count = await waitFor(async () => {
    const { items } = await gateway.api('/api/search?q=reykjavik');
    const kinds = items.map(({ kind }: { kind: string }) => kind);
    return kinds.includes('input') && kinds.includes('message') ? items.length : undefined;
  });

  const { page, problems } = await studio.open('/spaces');
  await page.getByRole('heading', { name: 'Spaces' }).waitFor();
  await page.keyboard.press('/');
  const field = page.getByRole('searchbox', { name: 'Words to search for' });
  await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
  await page.keyboard.type('reyk*');
  await page.keyboard.press('Enter');
  const results = page.getByRole('list', { name: 'Results' }).getByRole('listitem');
  await expect.poll(() => results.count()).toBe(count);
  expect(new Set(await results.locator('mark').allInnerTexts())).toEqual(new Set(['Reykjavik']));
  expect(await results.last().textContent()).toContain('How is the weather in Reykjavik, <b>really</b>?');
  expect(await accessibilityProblems(page)).toEqual([]);

  await page.getByRole('link', { name: 'Inputs' }).click();
  await expect.poll(() => results.count()).toBe(1);
  await results.getByRole('link').click();
  await page.waitForURL(/\/runs\/.*call=.*tab=input/);
  await page.goBack();
  // The field has the words of the address, also after the user has gone back.
  await field.fill('weather');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=weather/);
  await page.goBack();
  await page.waitForURL(/q=reyk/);
  await expect.poll(() => field.inputValue()).toBe('reyk*');
  await page.getByRole('link', { name: 'Messages' }).click();
  await page.waitForURL(/kind=message/);
  await expect.poll(() => results.count()).toBe(1);
  await results.getByRole('link').click();
  await page.waitForURL(/\/spaces\/.*at=1/);
  await page.getByText('How is the weather in Reykjavik').first().waitFor();
  expect(problems).toEqual([]);

  // A person without any scope finds the messages of their own spaces, and no request is refused.
  const person = await studio.open('/', { scopes: [] });
  await person.page.getByText('How is the weather in Reykjavik').first().waitFor();
  await person.page.goto(`${gateway.url}/search?q=reykjavik`);
  const own = person.page.getByRole('list', { name: 'Results' }).getByRole('listitem');
  await expect.poll(() => own.count()).toBe(1);
  expect(person.problems).toEqual([]);
});
