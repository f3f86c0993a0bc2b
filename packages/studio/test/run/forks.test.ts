import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityProblems } from '../support/accessibility.ts';
import { useBrowser } from '../support/browser.ts';
import { type Studio, startStudio } from '../support/studio.ts';
import { calls, deskOptions, runOf, say } from './desk.ts';

const browser = useBrowser();

let studio: Studio;
let original: string;

beforeAll(async () => {
  studio = await startStudio(
    browser(),
    deskOptions([
      calls(['fetch_weather', { city: 'Tokyo' }]),
      'It is clear in Tokyo.',
      // The first fork, with another outcome.
      'It snows in Tokyo.',
      // The second fork, which asks.
      calls(['send_fax', { to: 'Inn' }]),
      'The fax is as good as sent.',
    ]),
  );
  original = await runOf(studio.gateway, await say(studio.gateway, 'How is the weather in Tokyo?'));
});
afterAll(async () => await studio?.[Symbol.asyncDispose]());

test('[E3] [S6] a run is forked at a step with another outcome, and the fork says what it is and is compared with the original', async () => {
  const { page, problems } = await studio.open(`/runs/${original}?call=step-2`);
  const panel = page.getByRole('region', { name: 'Step 2' });
  await panel.getByRole('button', { name: 'From here …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Fork at step 2' });
  await dialog.getByLabel('Other outcome of a call').selectOption({ index: 1 });
  await dialog.getByLabel('Its result').fill('{"sky":"snow"}');
  expect(await accessibilityProblems(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Fork' }).click();
  await page.getByText('at step 2, changed: the outcome of a call').waitFor();
  await page.getByRole('heading', { name: 'Fork at step 2', level: 1 }).waitFor();
  await page.getByText('It snows in Tokyo.').first().waitFor();
  await page.getByRole('link', { name: 'Compare with the original' }).click();
  await page.waitForURL(`**/runs/${original}/compare/*`);
  await page.getByText('fork at step 2, changed: the outcome of a call').waitFor();
  const requests = page.getByRole('region', { name: 'Requests', exact: true });
  await requests.getByText('Step 2').click();
  const diff = page.getByRole('region', { name: 'Request of step 2, left and right' });
  await diff.locator('ins').first().waitFor();
  expect(await diff.locator('ins').first().textContent()).toContain('snow');
  expect(await diff.locator('del').first().textContent()).toContain('clear');
  expect(problems).toEqual([]);
});

test('[E2] a call of a fork that the original did not make waits on its page, and runs only if its name is typed', async () => {
  const { page } = await studio.open(`/runs/${original}?call=step-1`);
  await page.getByRole('region', { name: 'Step 1' }).getByRole('button', { name: 'From here …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Fork at step 1' });
  await dialog.getByLabel('Add a message').fill('Fax the Inn.');
  await dialog.getByRole('button', { name: 'Fork' }).click();
  const waiting = page.getByRole('list', { name: 'Calls that wait for you' });
  await waiting.getByText('send_fax waits').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  // On a phone, the answers leave room for the timeline.
  await page.setViewportSize({ width: 390, height: 800 });
  await expect.poll(() => page.locator('main').evaluate((one) => one.scrollHeight - one.clientHeight)).toBe(0);
  await waiting.getByLabel('Run it for real').fill('another_tool');
  await waiting.getByRole('button', { name: 'Run for real' }).click();
  await waiting.getByText('To confirm that, answer with').waitFor();
  // The inbox leads here.
  const { page: inbox } = await studio.open('/inbox');
  // The call is in the list, and in the panel next to it.
  await inbox.getByText('send_fax').first().click();
  await inbox.getByRole('link', { name: 'Open the run' }).click();
  await inbox.getByRole('list', { name: 'Calls that wait for you' }).getByText('send_fax waits').waitFor();
  await waiting.getByLabel('Give it a result').fill('as good as sent');
  await waiting.getByRole('button', { name: 'Give the result' }).click();
  await page.getByText('The fax is as good as sent.').first().waitFor();
});

test('[E3] all forks of a run are compared with it: what was changed, calls, answer, tokens and time', async () => {
  const { page, problems } = await studio.open(`/runs/${original}`);
  await page.getByText('2 forks').waitFor();
  await page.getByRole('link', { name: 'compare them with this run' }).click();
  const table = page.getByRole('table', { name: 'The original and its forks' });
  await table.getByText('It snows in Tokyo.').waitFor();
  await table.getByText('at step 1, changed: a message').waitFor();
  expect(await table.getByRole('row').count()).toBe(4);
  await table.getByRole('radio', { name: 'compare fork 2' }).check();
  await page.getByText('fork at step 2, changed: the outcome of a call').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  // Lists of runs mark forks, with the way to the original.
  await page.goto(`${studio.gateway.url}/runs`);
  const rows = page.getByRole('list', { name: 'Runs' }).getByRole('listitem');
  await expect.poll(() => rows.filter({ hasText: 'fork' }).count()).toBe(3);
  await rows.getByText('A fork', { exact: true }).waitFor();
  await rows.filter({ hasText: 'fork' }).first().getByRole('link', { name: 'of this run' }).click();
  await page.waitForURL(`**/runs/${original}`);
  await page.getByRole('link', { name: 'compare them with this run' }).click();
  await table.waitFor();
  await page.setViewportSize({ width: 380, height: 800 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(380);
  expect(problems).toEqual([]);
});
