import { scriptedModel } from '@lastcall/core/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBrowser } from './support/browser.ts';
import { type Studio, startStudio } from './support/studio.ts';

const browser = useBrowser();
let studio: Studio;
let empty: Studio;

const usage = {
  inputTokens: { total: 1_000, noCache: undefined, cacheRead: 800, cacheWrite: undefined },
  outputTokens: { total: 100, text: undefined, reasoning: undefined },
};

beforeAll(async () => {
  const model = { ...scriptedModel(() => ({ text: 'Yes.', usage })), provider: 'acme', modelId: 'large' };
  const config = {
    model,
    prices: { large: { input: 1_000, cached: 100, output: 10_000 } },
    agents: [{ name: 'Clerk', instructions: 'Help.' }],
    spaces: [{ name: 'Desk', agents: ['Clerk'], people: [{ name: 'Ada' }] }],
  };
  studio = await startStudio(browser(), config);
  empty = await startStudio(browser(), config);
  for (const message of ['One?', 'Two?']) await studio.gateway.api('/chat', { agent: 'Clerk', message });
});
afterAll(async () => {
  await studio[Symbol.asyncDispose]();
  await empty[Symbol.asyncDispose]();
});

test.each([
  { theme: 'light' as const, width: 1_200 },
  { theme: 'dark' as const, width: 360 },
])(
  '[K13] shows requests, tokens, cached tokens and money by day and by agent, $theme and $width wide',
  async (look) => {
    const { page, problems } = await studio.open('/usage', look);
    const row = page.getByRole('row').nth(1);
    await row.waitFor();
    // 200 tokens at 1,000, 800 at 100 and 100 at 10,000, for each million, twice.
    expect((await row.textContent())?.replaceAll(/\s/g, ' ')).toContain('22,0001,6002002.56 USD');
    await page.getByLabel('Added up by').focus();
    await page.getByLabel('Added up by').selectOption('agent');
    await page.waitForURL('**/usage?by=agent**');
    await page.getByRole('link', { name: 'Clerk' }).waitFor();
    // No word and no number is broken.
    expect((await row.boundingBox())?.height).toBeLessThan(40);
    // Only the table scrolls sideways.
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
    expect(problems).toEqual([]);
  },
);

test('[K13] says what will be shown here if there were no model requests', async () => {
  const { page, problems } = await empty.open('/runs');
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('u');
  await page.getByText('No model was asked in these days.').waitFor();
  expect(problems).toEqual([]);
});
