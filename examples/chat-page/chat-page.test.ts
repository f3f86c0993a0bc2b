import { type Browser, chromium as playwright } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chromePath } from '../browser.ts';
import { type ChatPageExample, startChatPage } from './start.ts';

let browser: Browser;
let example: ChatPageExample;

beforeAll(async () => {
  [browser, example] = await Promise.all([
    playwright.launch({
      executablePath: await chromePath(),
      args: ['--no-sandbox', '--headless=shell'],
    }),
    startChatPage({ port: 0 }),
  ]);
});

afterAll(async () => {
  await browser?.close();
  await example?.stop();
});

test('[S11] in a browser, a person approves a call, denies another, and finds the chat again after a reload', async () => {
  const page = await browser.newPage({ viewport: { width: 800, height: 900 } });
  const problems: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())));
  page.on('pageerror', (error) => void problems.push(error.message));
  await page.goto(example.url);
  await page.getByLabel('Message').fill('Please pay 12 euros.');
  await page.getByRole('button', { name: 'Send' }).click();
  const cards = page.getByLabel('Call of pay');
  await cards.getByRole('button', { name: 'Approve' }).waitFor();
  expect(example.paid).toEqual([]);
  // The page is reloaded in the middle: the call still waits.
  await page.reload();
  await page.getByText('Please pay 12 euros.').waitFor();
  await cards.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('It is paid. Anything else?').waitFor();
  expect(await cards.getByText('Paid 12 euros.').count()).toBe(1);
  expect(example.paid).toEqual([12]);
  await page.getByLabel('Message').fill('And 30 more.');
  await page.getByRole('button', { name: 'Send' }).click();
  await cards.getByRole('button', { name: 'Deny' }).click();
  await page.getByText('Then I leave it.').waitFor();
  expect(await cards.count()).toBe(2);
  expect(example.paid).toEqual([12]);
  // A decision may also be about a message before the last one.
  for (const [index, text] of ['Please pay 5 euros.', 'And 7 euros.'].entries()) {
    await page.getByLabel('Message').fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
    await cards
      .nth(2 + index)
      .getByRole('button', { name: 'Approve' })
      .waitFor();
  }
  await cards.nth(2).getByRole('button', { name: 'Approve' }).click();
  await cards.nth(2).getByText('Paid 5 euros.').waitFor();
  expect(example.paid).toEqual([12, 5]);
  expect(problems).toEqual([]);
});
