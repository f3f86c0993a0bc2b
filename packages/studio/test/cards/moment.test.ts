import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { startStudio } from '../support/studio.ts';

const browser = useBrowser();

test('[S3] the year of a moment can be typed again, in every time zone', async () => {
  const meet = {
    executionType: 'space',
    description: 'When do we meet?',
    inputSchema: { type: 'object', properties: { question: { type: 'string' } } },
    resultSchema: { type: 'object', properties: { when: { type: 'string', format: 'date-time' } }, required: ['when'] },
  } as const;
  await using studio = await startStudio(browser(), {
    model: scriptedModel([[{ toolName: 'meet', input: { question: 'When?' } }], 'Thank you.']),
    tools: { meet },
    agents: [{ name: 'Clerk', instructions: 'Ask.', tools: ['meet'] }],
    spaces: [{ name: 'Desk', agents: ['Clerk'], people: [{ name: 'Ada' }] }],
  });
  // Before 1893 its offset from UTC had seconds.
  const context = await browser().newContext({ timezoneId: 'Europe/Berlin', locale: 'en-US' });
  const page = await context.newPage();
  await page.goto(await studio.link());
  await page.getByRole('textbox', { name: /^Write to/ }).fill('Ask.');
  await page.keyboard.press('Enter');
  const when = page.getByLabel('When');
  await when.fill('2026-12-24T09:30:10');
  // Focused by the keyboard, the field begins with the month.
  await page.getByRole('textbox', { name: /^Write to/ }).focus();
  await when.focus();
  await page.keyboard.type('12252027');
  await expect.poll(() => when.inputValue()).toBe('2027-12-25T09:30:10');
});
