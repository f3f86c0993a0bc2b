import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { accessibilityProblems } from './support/accessibility.ts';
import { useBrowser } from './support/browser.ts';
import { type Studio, startStudio } from './support/studio.ts';

const browser = useBrowser();
let studio: Studio;
let runs: string[];
let paid = 0;

beforeAll(async () => {
  const pay = tool({ description: 'Pays.', inputSchema: z.object({}), execute: () => `Payment ${++paid}.` });
  const model = scriptedModel(({ prompt }) => {
    const results = prompt.filter(({ role }) => role === 'tool').length;
    const isMissing = results === 1 && JSON.stringify(prompt).includes('Pay twice');
    if (prompt.at(-1)?.role !== 'tool' || isMissing) return { toolName: 'pay', input: {} };
    return JSON.stringify(prompt).includes('Be polite') ? 'Dear Ada, it is paid.' : 'Paid.';
  });
  studio = await startStudio(browser(), {
    ...{ model, tools: { pay } },
    agents: [{ name: 'Clerk', instructions: 'You pay.', tools: ['pay'] }],
    spaces: [{ name: 'Desk', agents: ['Clerk'], people: [{ name: 'Ada' }] }],
  });
  runs = [];
  for (const message of ['Pay the hotel.', 'Pay the taxi.'])
    runs.push((await studio.gateway.api('/chat', { agent: 'Clerk', message })).run_id);
});
afterAll(async () => await studio?.[Symbol.asyncDispose]());

test('[E6] a run becomes a case with a button, and the expected answer can be edited', async () => {
  const { page, problems } = await studio.open('/evaluations');
  await page.getByText('No evaluation yet.').waitFor();
  expect(await page.getByLabel('Command').inputValue()).toBe('lastcall eval desk.eval.js --send');
  // The sample can be run as it is.
  expect(await page.locator('pre').textContent()).toContain('agent: "Clerk",\n  cases: "Clerk",');
  await page.setViewportSize({ width: 390, height: 800 });
  const words = await page.getByText('An evaluation gives tasks').boundingBox();
  expect((words?.x ?? 0) + (words?.width ?? 390)).toBeLessThan(390);
  await page.setViewportSize({ width: 1_200, height: 800 });
  expect(await accessibilityProblems(page)).toEqual([]);

  await page.goto(`${studio.gateway.url}/runs/${runs[0]}`);
  await page.getByRole('button', { name: 'Make a case …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Make a case of this run' });
  const expected = dialog.getByLabel('Expected answer');
  expect(await expected.inputValue()).toBe('Paid.');
  await expected.fill('Dear Ada');
  expect(await dialog.getByLabel('Evaluation').inputValue()).toBe('Clerk');
  expect(await accessibilityProblems(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Store the case' }).click();
  await dialog.getByRole('link', { name: 'Clerk' }).click();
  const cases = page.getByRole('list', { name: 'Stored cases' });
  await cases.getByText('Dear Ada').waitFor();
  await page.getByText('No results yet.').waitFor();
  await cases.getByRole('link', { name: 'Pay the hotel.' }).click();
  await page.waitForURL(`**/runs/${runs[0]}`);
  expect(problems).toEqual([]);
});

test('[E7] [E9] results are a matrix of cases and versions with the worst first, and each is one click from its run', async () => {
  const { api } = studio.gateway;
  const { id } = await api('/api/evaluations', { name: 'Politeness' });
  const sample = (at: number, value: number) => ({
    ...{
      case: `case ${at}`,
      sample: 1,
      scores: { polite: { value, reason: value === 1 ? undefined : 'It lacks "Dear".' } },
    },
    ...{ response: `Answer ${at}.`, ms: 12, tokens: 40, runId: runs[at % 2] },
  });
  const path = `/api/evaluations/${id}/reports`;
  await api(path, { version: 'v1', samples: [sample(0, 1), sample(1, 0), sample(2, 0), sample(3, 1)] });
  const failed = { case: 'case 2', sample: 1, scores: {}, error: 'The model is down.', ms: 4, runId: runs[0] };
  await api(path, { version: 'v1 + polite.md', samples: [sample(0, 1), sample(1, 0), failed, sample(3, 1)] });

  const { page, problems } = await studio.open('/inbox');
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Evaluations' }).click();
  await page.getByRole('list', { name: 'Evaluations' }).getByText('Politeness').click();
  const versions = page.getByRole('table', { name: 'Scores of each version' });
  await versions.getByText('15 % – 85 %').first().waitFor();
  await versions.getByText('1 failed').waitFor();
  await versions.getByText('same').waitFor();
  const matrix = page.getByRole('table', { name: 'The score of each case in each version' });
  expect(await matrix.getByRole('rowheader').allTextContents()).toEqual(['case 1', 'case 2', 'case 0', 'case 3']);
  await matrix.getByRole('button', { name: 'case 1' }).click();
  await matrix.getByText('It lacks "Dear".').first().waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await matrix.getByRole('link', { name: 'failed, the run of case 2 in v1 + polite.md' }).click();
  await page.waitForURL(`**/runs/${runs[0]}`);
  await page.goBack();
  await matrix.waitFor();
  // A version in which every case failed arrives while the page is open.
  await api(path, { version: 'v2', samples: [{ ...failed, case: 'case 1' }] });
  await versions.getByText('No scores: 1 run failed.').waitFor();
  await matrix.getByRole('link', { name: 'failed, the run of case 1 in v2' }).waitFor();
  await page.setViewportSize({ width: 380, height: 800 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(380);
  expect(problems).toEqual([]);
});

test('[E8] a changed configuration is tried on the last tasks before it is saved: differences are shown, and nothing acts outside', async () => {
  const { items } = await studio.gateway.api('/api/agents');
  const clerk = items.find(({ name }: { name: string }) => name === 'Clerk');
  const { page, problems } = await studio.open(`/agents/${clerk.id}?tab=config`);
  const before = paid;
  await page.getByLabel('Instructions').fill('You pay. Be polite.');
  await page.getByRole('button', { name: 'Try on the last tasks' }).click();
  const tasks = page.getByRole('list', { name: 'Tasks' });
  await tasks.locator('ins').nth(1).waitFor();
  expect(await tasks.locator('ins').allTextContents()).toEqual(['+ Dear Ada, it is paid.', '+ Dear Ada, it is paid.']);
  expect(await tasks.getByRole('listitem').first().textContent()).toContain('Pay the taxi.');
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByLabel('Instructions').fill('You pay. Pay twice.');
  await page.getByRole('button', { name: 'Try on the last tasks' }).click();
  await tasks.getByText('It stopped at pay: the original has no outcome of such a call.').first().waitFor();
  expect(paid).toBe(before);
  expect((await studio.gateway.api(`/api/agents/${clerk.id}`)).configVersion).toBe(clerk.configVersion);
  expect(problems).toEqual([]);
});
