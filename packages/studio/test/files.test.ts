import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { defineAgent } from '@lastcall/gateway';
import { waitFor } from '@lastcall/gateway/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { accessibilityProblems } from './support/accessibility.ts';
import { useBrowser } from './support/browser.ts';
import { type Studio, startStudio } from './support/studio.ts';

const browser = useBrowser();
let studio: Studio;

const write = tool({
  description: 'Writes a note.',
  inputSchema: z.object({ text: z.string() }),
  effects: 'session',
  execute: ({ text }, { filesystem }) => filesystem.writeText('notes/day.md', text),
});

beforeAll(async () => {
  studio = await startStudio(browser(), {
    model: scriptedModel([
      [{ toolName: 'write', input: { text: 'milk\nbread\n' } }],
      [{ toolName: 'write', input: { text: 'milk\nbutter\n' } }],
      'Noted.',
    ]),
    definitions: { keeper: defineAgent({ files: true, tools: { write } }) },
    agents: [{ name: 'Keeper', definition: 'keeper' }],
  });
});
afterAll(async () => await studio[Symbol.asyncDispose]());

test('[A9] the page of an agent shows its files, and a run shows the lines that each call changed', async () => {
  const { api } = studio.gateway;
  const [{ id }] = (await api('/api/agents')).items;
  await api(`/api/agents/${id}/events`, { source: 'test', name: 'go' });
  await waitFor(async () => (await api(`/api/runs?agentId=${id}`)).items[0]?.status === 'completed');
  const { page, problems } = await studio.open(`/agents/${id}?tab=files`);
  await page.getByRole('list', { name: 'Files' }).getByText('notes/day.md').click();
  await page.getByRole('region', { name: 'Content of notes/day.md' }).getByText('butter').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole('link', { name: 'The run that wrote it' }).click();
  await page
    .getByRole('link', { name: /ok write/ })
    .nth(1)
    .click();
  const panel = page.getByRole('region', { name: 'Call write' });
  await panel.getByRole('link', { name: /^Changes/ }).click();
  const lines = panel.getByRole('region', { name: 'Changed lines of notes/day.md' });
  expect((await lines.locator('span').allTextContents()).slice(1)).toEqual([' milk', '-bread', '+butter']);
  expect(await accessibilityProblems(page)).toEqual([]);
  expect(problems).toEqual([]);
});
