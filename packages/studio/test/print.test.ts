import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { calls, deskOptions, runOf, say } from './run/desk.ts';
import { fill } from './space/crowd.ts';
import { useBrowser } from './support/browser.ts';
import { startStudio } from './support/studio.ts';

const browser = useBrowser();

/** Prints the page, and returns how many elements of a kind are printed, and what is cut off. */
async function print(page: Page, kind: string): Promise<{ readonly printed: number; readonly cut: readonly string[] }> {
  await page.emulateMedia({ media: 'print' });
  await page.evaluate((selector) => {
    addEventListener('beforeprint', () => {
      const all = [...document.querySelectorAll<HTMLElement>(selector)];
      const cut = [...document.querySelectorAll<HTMLElement>('#studio *')].filter(
        (one) => one.scrollHeight > one.clientHeight + 1 && getComputedStyle(one).overflowY === 'auto',
      );
      Object.assign(globalThis, {
        onPaper: {
          printed: all.filter((one) => one.checkVisibility()).length,
          cut: cut.map((one) => one.getAttribute('aria-label') ?? one.className),
        },
      });
    });
  }, kind);
  await page.pdf();
  await page.emulateMedia({ media: 'screen' });
  return await page.evaluate(() => (globalThis as never as { onPaper: Awaited<ReturnType<typeof print>> }).onPaper);
}

test('[S8] a conversation is printed with all messages that are loaded, and a note if there are earlier ones', async () => {
  await using studio = await startStudio(browser(), {
    spaces: [{ name: 'Hall', people: [{ name: 'Ada', externalId: 'ada' }] }],
  });
  const spaceId = await fill(
    studio.gateway,
    Array.from({ length: 60 }, (_, index) => `Line ${index}`),
  );
  const { page, problems } = await studio.open(`/spaces/${spaceId}`, { isNew: true });
  await page.getByText('Line 59').waitFor();
  const note = page.getByText('Earlier messages were not loaded');
  expect(await note.isVisible()).toBe(false);
  const shown = await page.getByRole('article').count();
  expect(shown).toBeLessThan(50);
  expect(await print(page, 'article')).toEqual({ printed: 50, cut: [] });
  await expect.poll(() => page.getByRole('article').count()).toBe(shown);
  await page.emulateMedia({ media: 'print' });
  expect(await note.isVisible()).toBe(true);
  expect(await page.getByRole('navigation', { name: 'Pages' }).isVisible()).toBe(false);
  expect(problems).toEqual([]);
});

test('[S8] a run is printed with all its calls', async () => {
  const cities = Array.from({ length: 50 }, (_, index) => ['fetch_weather', { city: `City ${index}` }] as const);
  await using studio = await startStudio(browser(), deskOptions([calls(...cities), 'It is clear.']));
  const { gateway } = studio;
  const id = await runOf(gateway, await say(gateway, 'How is the weather?'));
  const { page, problems } = await studio.open(`/runs/${id}`, { isNew: true });
  await page.getByRole('region', { name: 'Timeline' }).getByText('City 0').waitFor();
  expect(await print(page, 'section[aria-label=Timeline] a[href*="call="]:not([href*="step-"])')).toEqual({
    printed: 50,
    cut: [],
  });
  expect(problems).toEqual([]);
});
