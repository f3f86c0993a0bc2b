import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { askingDesk, cardOf, say } from '../cards/desk.ts';
import { useBrowser } from '../support/browser.ts';
import { calm, clickStill } from '../support/calm.ts';
import { startStudio } from '../support/studio.ts';
import { fill } from './crowd.ts';

const browser = useBrowser();

/** How far the end of the list is below the visible part. */
const belowSight = (log: Locator): Promise<number> =>
  log.evaluate((one) => Math.round(one.scrollHeight - one.clientHeight - one.scrollTop));

const atEnd = async (page: Page): Promise<void> => {
  const log = page.getByRole('log');
  await expect.poll(() => belowSight(log)).toBeLessThan(2);
};

test('[S2] a list keeps following after a field of a card had the focus, and people see the messages that they post', async () => {
  await using studio = await startStudio(browser(), askingDesk());
  const { page, problems } = await studio.open('/', { height: 600 });
  const [{ entityId: clerk }] = (await studio.gateway.api('/api/agents')).items;
  const notes = Array.from({ length: 30 }, (_, index) => `Note ${index}`);
  const log = page.getByRole('log');
  await fill(studio.gateway, notes, clerk);
  await say(page, 'Pick a room.');
  const card = cardOf(page, /^pick_room, waits/);
  await card.waitFor();
  await calm(page);

  // A field that has lost the focus does not hold the list.
  await card.getByRole('textbox').focus();
  await page.getByRole('textbox', { name: /^Write to/ }).focus();
  await fill(studio.gateway, notes, clerk);
  await expect.poll(() => log.getByText('Note 29').count()).toBe(1);
  await atEnd(page);

  // While it has the focus it stays visible. Own messages and those after them are shown nevertheless.
  await card.getByRole('textbox').focus();
  await fill(studio.gateway, ['While they type.'], clerk);
  await page.getByRole('button', { name: '1 new' }).waitFor();
  await say(page, 'Something else.');
  await expect.poll(() => log.getByText('Something else.', { exact: true }).count()).toBe(1);
  await atEnd(page);
  await fill(studio.gateway, notes, clerk);
  await atEnd(page);

  // An answer that removes the field also ends this.
  const field = card.getByRole('textbox');
  await field.fill('{"blue": 2}');
  await page.getByRole('button', { name: 'To the end' }).waitFor();
  await clickStill(card.getByRole('button', { name: 'Send' }));
  await cardOf(page, /^pick_room, done/).waitFor();

  // A person who scrolled up is moved to the end only by their own message.
  await log.focus();
  await page.keyboard.press('Home');
  await page.getByRole('button', { name: /new|To the end/ }).waitFor();
  await fill(studio.gateway, ['From afar.'], clerk);
  await page.getByRole('button', { name: /\d+ new/ }).waitFor();
  expect(await belowSight(log)).toBeGreaterThan(500);
  await say(page, 'Mine again.');
  await expect.poll(() => log.getByText('Mine again.', { exact: true }).count()).toBe(1);
  await atEnd(page);
  expect(problems).toEqual([]);
});
