import { type Browser, chromium as playwright } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chromePath } from '../browser.ts';
import type { ServedPage } from '../serve-page.ts';
import { startOwnCard } from './start.ts';

let browser: Browser;
let example: ServedPage;

beforeAll(async () => {
  [browser, example] = await Promise.all([
    playwright.launch({
      executablePath: await chromePath(),
      args: ['--no-sandbox', '--headless=shell'],
    }),
    startOwnCard({ port: 0 }),
  ]);
});

afterAll(async () => {
  await browser?.close();
  await example?.stop();
});

test('[S10] a custom page shows a call with a custom component, and two tabs agree on the answer', async () => {
  const [page, other] = [await browser.newPage(), await browser.newPage()];
  const problems: string[] = [];
  page.on('pageerror', (error) => void problems.push(error.message));
  for (const one of [page, other]) await one.goto(example.url);
  await page.getByRole('button', { name: 'Ask for seats' }).click();
  for (const one of [page, other]) await one.getByRole('heading', { name: 'Train IC 708' }).waitFor();
  const seats = page.getByRole('region', { name: 'Seats' });
  expect(await seats.getByRole('button', { name: '1B' }).isDisabled()).toBe(true);
  await seats.getByRole('button', { name: '2A' }).click();
  await seats.getByRole('button', { name: '2B' }).click();
  await seats.getByRole('button', { name: 'Take 2A, 2B' }).click();
  for (const one of [page, other]) {
    await one.getByText('2A, 2B: Ada').waitFor();
    await one.getByText('They are yours. Have a good trip!').waitFor();
  }
  expect(problems).toEqual([]);
});
