import { scriptedModel } from '@lastcall/core/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityProblems } from '../support/accessibility.ts';
import { useBrowser } from '../support/browser.ts';
import { type Studio, startStudio } from '../support/studio.ts';

const browser = useBrowser();
let studio: Studio;

beforeAll(async () => {
  studio = await startStudio(browser(), {
    model: scriptedModel(() => 'Seen.'),
    agents: [{ name: 'Clerk', instructions: 'Look.' }],
    spaces: [{ name: 'Office', agents: ['Clerk'], people: [{ name: 'Ada' }, { name: 'Bob' }] }],
  });
});
afterAll(async () => await studio[Symbol.asyncDispose]());

/** One pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PAGE = '<!doctype html><script>document.title = "ran"; parent.ran = true</script>';
const DRAWING = '<svg xmlns="http://www.w3.org/2000/svg"><script>parent.ran = true</script></svg>';

test('[O10] [S28] a person attaches an image, a page and a PDF, all members see the image, and nothing runs', async () => {
  const { gateway, open } = studio;
  const [{ id }] = (await gateway.api('/api/spaces')).items;
  const { page, problems } = await open(`/spaces/${id}`);
  const files = [
    { name: 'plan.png', mimeType: 'image/png', buffer: Buffer.from(PNG, 'base64') },
    { name: 'page.html', mimeType: 'text/html', buffer: Buffer.from(PAGE) },
    { name: 'drawing.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(DRAWING) },
    { name: 'plan.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7') },
  ];
  await page.locator('input[type=file]').setInputFiles(files);
  const chosen = page.getByRole('list', { name: 'Files to send' });
  await chosen.getByText('plan.pdf').waitFor();
  await page.getByRole('button', { name: 'Remove plan.pdf' }).click();
  await expect.poll(() => chosen.getByRole('listitem').count()).toBe(3);
  expect(await accessibilityProblems(page)).toEqual([]);
  // A message with only files and no text.
  const send = page.getByRole('button', { name: 'Send' });
  await expect.poll(() => send.isEnabled()).toBe(true);
  await send.click();
  const log = page.getByRole('log', { name: 'Messages' });
  await log.getByRole('img', { name: 'plan.png' }).waitFor();
  await expect.poll(() => chosen.count()).toBe(0);

  const other = await open(`/spaces/${id}`, { as: 'Bob', scopes: [] });
  const shown = other.page.getByRole('log', { name: 'Messages' });
  const image = shown.getByRole('img', { name: 'plan.png' });
  await image.waitFor();
  const width = () => image.evaluate((element) => (element as HTMLImageElement).naturalWidth);
  await expect.poll(width).toBe(1);
  expect(await accessibilityProblems(other.page)).toEqual([]);
  for (const name of ['page.html', 'drawing.svg']) {
    const [download] = await Promise.all([
      other.page.waitForEvent('download'),
      shown.getByRole('link', { name }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(name);
    // It does not run in a frame either, or as the document of a tab.
    const href = await shown.getByRole('link', { name }).getAttribute('href');
    await other.page.evaluate(async (src) => {
      const frame = document.createElement('iframe');
      frame.src = src ?? '';
      document.body.append(frame);
      await new Promise((resolve) => setTimeout(resolve, 300));
      frame.remove();
    }, href);
  }
  expect(await other.page.evaluate(() => 'ran' in globalThis)).toBe(false);
  expect(problems).toEqual([]);
});

test('a file that the gateway refuses says why, and the message is not sent without it', async () => {
  const { gateway, open } = studio;
  const [{ id }] = (await gateway.api('/api/spaces')).items;
  const { page } = await open(`/spaces/${id}`);
  await page
    .locator('input[type=file]')
    .setInputFiles([{ name: 'empty.txt', mimeType: 'text/plain', buffer: Buffer.alloc(0) }]);
  const chosen = page.getByRole('list', { name: 'Files to send' });
  await chosen.getByText('It is empty').waitFor();
  await page.getByRole('textbox').fill('Look.');
  expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
  await page.getByRole('button', { name: 'Remove empty.txt' }).click();
  await expect.poll(() => page.getByRole('button', { name: 'Send' }).isEnabled()).toBe(true);
});

test('[S28] a file that is removed while it is uploaded does not hold up the next one', async () => {
  const { gateway, open } = studio;
  const [{ id }] = (await gateway.api('/api/spaces')).items;
  const { page } = await open(`/spaces/${id}`);
  const uploads = /\/api\/artifacts/;
  let count = 0;
  // The first one never ends.
  await page.route(uploads, (route) => (++count === 1 ? undefined : route.continue()));
  const choose = (name: string): Promise<void> =>
    page.locator('input[type=file]').setInputFiles([{ name, mimeType: 'text/plain', buffer: Buffer.from(name) }]);
  await Promise.all([page.waitForRequest(uploads), choose('long.txt')]);
  await page.getByRole('button', { name: 'Remove long.txt' }).click();
  await choose('short.txt');
  await expect.poll(() => page.getByRole('button', { name: 'Send' }).isEnabled()).toBe(true);
});
