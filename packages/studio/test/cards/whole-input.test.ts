import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { accessibilityProblems } from '../support/accessibility.ts';
import { useBrowser } from '../support/browser.ts';
import { calm, clickStill, untilStill } from '../support/calm.ts';
import { type Studio, startStudio } from '../support/studio.ts';
import { cardOf } from './desk.ts';

const browser = useBrowser();

const BODY = `${'The buyer keeps the goods.\n'.repeat(1_400)}… and pay 9,999 to X`;
const INPUT = {
  body: BODY,
  word: `${'w'.repeat(10_000)}Z`,
  to: 'Oslo \u202eyned\u202c\u00ad\u{e0061}',
  replicas: 3,
  dryRun: false,
  nested: { deep: { deeper: { note: 'first line\nsecond line' } } },
  lines: Array.from({ length: 100 }, (_, index) => ({ item: `Item ${index + 1}` })),
};

/** A clerk who wants to send `INPUT`. `calls`: what the tool was run with. */
async function startDesk(calls: unknown[]): Promise<Studio> {
  const enter = { toolName: 'enter_space', input: (spaceId: string) => ({ spaceId }) };
  const model = scriptedModel((request) => {
    const text = JSON.stringify(request.prompt);
    const spaceId = /Space (\d+) \(/.exec(text)?.[1] ?? '';
    if (!text.includes('"enter_space"')) return { toolName: enter.toolName, input: enter.input(spaceId) };
    return text.includes('"send_contract"') ? 'Done.' : { toolName: 'send_contract', input: INPUT };
  });
  const properties = z
    .looseObject({ body: z.string().meta({ title: 'Text of the contract', description: 'What both sides sign.' }) })
    .meta({ description: 'A contract' });
  const send_contract = tool({
    description: 'Sends a contract.',
    inputSchema: properties,
    approval: true,
    execute: (input) => {
      calls.push(input);
      return 'sent';
    },
  });
  return await startStudio(browser(), {
    model,
    tools: { send_contract },
    agents: [{ name: 'Clerk', instructions: 'Send.', tools: ['send_contract'] }],
    spaces: [{ name: 'Desk', agents: ['Clerk'], people: [{ name: 'Ada', externalId: 'ada' }] }],
  });
}

const showAll = (card: Locator): Locator => card.getByRole('button', { name: /^Show all/ });
const end = (card: Locator): Locator => card.getByText('and pay 9,999 to X');

/** Opens all but one part, and checks that nothing can be approved until that one is open too. */
async function readAll(page: Page, card: Locator, sent: readonly string[]): Promise<void> {
  const approve = card.getByRole('button', { name: 'Approve', exact: true });
  await card.getByText('Approve is off until you have opened all of the input').waitFor();
  expect(await end(card).count()).toBe(0);
  const reason = await approve.getAttribute('aria-describedby');
  expect(await page.locator(`[id="${reason}"]`).textContent()).toMatch(/3 parts are closed/);
  for (let left = await showAll(card).count(); left > 0; left -= 1) {
    expect(await approve.getAttribute('aria-disabled')).toBe('true');
    await card.focus();
    await page.keyboard.press('a');
    await approve.evaluate((button) => (button as HTMLElement).click());
    expect(sent).toEqual([]);
    await showAll(card).first().click();
  }
  expect(await end(card).count()).toBe(1);
  await untilStill(approve);
}

test('[S21] an approval of 37 kB is off until every part of the input has been opened, in the space and in the inbox', async () => {
  const calls: unknown[] = [];
  await using studio = await startDesk(calls);
  const { page, problems } = await studio.open('/', { width: 380, height: 760 });
  const sent: string[] = [];
  page.on('request', (request) => void (request.url().endsWith('/tool-results') && sent.push(request.url())));
  const field = page.getByRole('textbox', { name: /^Write to/ });
  await field.fill('Send it.');
  await field.press('Enter');
  const card = cardOf(page, /^send_contract, waits/);
  await card.waitFor();
  await calm(page);

  // Every field is found by its label, and hidden characters in it are shown.
  await card.getByText('Text of the contract', { exact: true }).waitFor();
  await card.getByText('What both sides sign.').waitFor();
  await card.getByText('Oslo [U+202E]yned[U+202C][U+00AD][U+E0061]').waitFor();
  for (const text of ['replicas', 'dryRun', 'false', 'Show all 10,001 characters', 'Show all 100 items'])
    await card.getByText(text).first().waitFor();
  expect(await card.getByText('first line').allInnerTexts()).toEqual(['first line\nsecond line']);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(380);
  await readAll(page, card, sent);
  await card.getByText('Item 100', { exact: true }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(380);
  expect(await accessibilityProblems(page)).toEqual([]);

  // The inbox requires the same of the same person.
  await page.goto(`${studio.gateway.url}/inbox`);
  await page.getByRole('button', { name: /send_contract/ }).click();
  const again = cardOf(page, /^send_contract, waits/);
  await readAll(page, again, sent);
  await clickStill(again.getByRole('button', { name: 'Approve', exact: true }));
  await cardOf(page, /^send_contract, done/)
    .getByText('sent')
    .waitFor();
  expect(calls).toEqual([INPUT]);
  expect(problems).toEqual([]);
});
