import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBrowser } from './support/browser.ts';
import { type Studio, startStudio } from './support/studio.ts';

const browser = useBrowser();
let studio: Studio;

beforeAll(async () => {
  studio = await startStudio(browser(), { spaces: [{ name: 'Desk', people: [{ name: 'Ada' }] }] });
});
afterAll(async () => await studio[Symbol.asyncDispose]());

/** The Enter that chooses a suggestion of an input method: Chrome and Firefox mark it, Safari only gives it this code. */
const MARKED = { key: 'Enter', isComposing: true };
const CODED = { key: 'Enter', keyCode: 229 };

test.each([
  ['in Chrome and Firefox', MARKED],
  ['in Safari', CODED],
])('[S8] the Enter that ends the composition of a word sends no message and chooses nothing %s', async (_, key) => {
  const [{ id }] = (await studio.gateway.api('/api/spaces')).items;
  const { page, problems } = await studio.open(`/spaces/${id}`);
  const field = page.getByRole('textbox', { name: 'Write to Desk' });
  await field.fill('東京');
  await field.dispatchEvent('keydown', key);
  expect(await field.inputValue()).toBe('東京');
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('combobox', { name: /^Search pages/ });
  await palette.fill('inbox');
  await page.getByRole('option', { name: /Inbox/ }).waitFor();
  await palette.dispatchEvent('keydown', key);
  await palette.dispatchEvent('keydown', { ...key, key: 'ArrowDown' });
  expect(await palette.isVisible()).toBe(true);
  await palette.press('Enter');
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  expect((await studio.gateway.api(`/api/spaces/${id}/messages`)).items).toEqual([]);
  expect(problems).toEqual([]);
});

test('[S8] the filter of the tools takes words that an input method composes, and letters in the middle of a word', async () => {
  const { page, problems } = await studio.open('/tools');
  const field = page.getByRole('searchbox', { name: 'Filter the tools' });
  await field.focus();
  const cdp = await page.context().newCDPSession(page);
  for (const text of ['n', 'に', 'にh', 'にほ', 'にほん']) {
    await cdp.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
    // The list follows before the next letter.
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe(text);
  }
  await cdp.send('Input.insertText', { text: '日本' });
  expect(await field.inputValue()).toBe('日本');
  await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('日本');
  await field.fill('memry');
  await field.press('ArrowLeft');
  await field.press('ArrowLeft');
  await field.pressSequentially('or');
  await field.press('Delete');
  expect(await field.inputValue()).toBe('memory');
  await page.getByRole('link', { name: 'Tools', exact: true }).click();
  await expect.poll(() => field.inputValue()).toBe('');
  expect(problems).toEqual([]);
});
