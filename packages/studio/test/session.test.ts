import { planningSection, slice, tool } from '@lastcall/core';
import { prompt } from '@lastcall/core/prompt';
import { scriptedModel } from '@lastcall/core/testing';
import { defineAgent } from '@lastcall/gateway';
import { startTestGateway, waitFor } from '@lastcall/gateway/testing';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { scratchFolder } from '../../gateway/test/support/scratch-folder.ts';
import { accessibilityProblems } from './support/accessibility.ts';
import { useBrowser } from './support/browser.ts';
import { type Studio, startStudio } from './support/studio.ts';

const browser = useBrowser();
let studio: Studio;

/** A slice that counts, in the version of its code. */
const counting = (version: number) => {
  const count = slice('count', { version, initial: 0, on: { Counted: (n: number, _: { type: 'Counted' }) => n + 1 } });
  return tool({
    description: 'Counts.',
    inputSchema: z.object({}),
    effects: 'session',
    slices: [count],
    execute: (_, { session }) => session.dispatch({ type: 'Counted' }),
  });
};
const planner = (version: number) =>
  defineAgent({
    instructions: prompt({ ns: 'work', key: 'planner', sections: [planningSection()] }),
    tools: { count: counting(version) },
  });
const agents = [{ name: 'Planner', definition: 'planner' }];
const spaces = [{ name: 'Desk', agents: ['Planner'], people: [{ name: 'Ada' }] }];

beforeAll(async () => {
  const model = scriptedModel([
    [
      {
        toolName: 'planning_setup_plan',
        input: { objective: 'Open the shop', initial_steps: ['Unlock the door', 'Count the till'] },
      },
    ],
    [{ toolName: 'planning_update_step', input: { step_id: 1, status: 'done' } }],
    [{ toolName: 'count', input: {} }],
    'Done for now.',
  ]);
  studio = await startStudio(browser(), { model, definitions: { planner: planner(1) }, agents, spaces });
});
afterAll(async () => await studio[Symbol.asyncDispose]());

test('[A7] [A12] the page of an agent shows its slices and its plan, and the plan stands beside the run', async () => {
  const { api } = studio.gateway;
  const [{ id }] = (await api('/api/agents')).items;
  await api(`/api/agents/${id}/events`, { source: 'test', name: 'go' });
  await waitFor(async () => (await api(`/api/runs?agentId=${id}`)).items[0]?.status === 'completed');
  const { page, problems } = await studio.open(`/agents/${id}`);
  await page.getByRole('link', { name: 'Session', exact: true }).click();
  const plan = page.getByRole('region', { name: 'plan', exact: true });
  await plan.getByText('Open the shop').waitFor();
  expect(await plan.getByRole('listitem').allTextContents()).toEqual([
    expect.stringMatching(/^done\s*Unlock the door$/),
    expect.stringMatching(/^to do\s*Count the till$/),
  ]);
  expect(await page.getByRole('region', { name: 'Slice count' }).textContent()).toBe('1');
  expect(await accessibilityProblems(page)).toEqual([]);
  const [run] = (await api(`/api/runs?agentId=${id}`)).items;
  await page.goto(`${studio.gateway.url}/runs/${run.id}`);
  await page.getByText('Plan as it is now:').click();
  await page.getByRole('list', { name: 'Steps of the plan' }).getByText('Unlock the door').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole('link', { name: /configuration v1/ }).click();
  expect(await page.getByLabel('Definition').inputValue()).toBe('planner');
  expect(problems).toEqual([]);
});

test('[A7] the session is for operators with all rights: others have no tab for it', async () => {
  const [{ id }] = (await studio.gateway.api('/api/agents')).items;
  const { page, problems } = await studio.open(`/agents/${id}`, { scopes: ['read'] });
  await page.getByRole('link', { name: 'Files', exact: true }).waitFor();
  expect(await page.getByRole('link', { name: 'Session', exact: true }).count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Machine', exact: true }).count()).toBe(0);
  expect(problems).toEqual([]);
});

test('[A1] an agent with a definition is created without instructions', async () => {
  const { page, problems } = await studio.open('/agents');
  await page.getByRole('button', { name: 'New agent' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Berlin');
  await page.getByLabel('Definition').selectOption('planner');
  await page.getByRole('button', { name: 'Create agent' }).click();
  await page.getByRole('heading', { name: 'Berlin' }).waitFor();
  const { items } = await studio.gateway.api('/api/agents');
  const { config } = items.find(({ name }: { name: string }) => name === 'Berlin');
  expect(config).toMatchObject({ name: 'Berlin', definition: 'planner' });
  expect(config.instructions).toBe('');
  expect(problems).toEqual([]);
});

test('[A6] an agent whose stored state does not fit says why, and can be resumed', async () => {
  const home = await scratchFolder('studio-session');
  {
    const model = scriptedModel([[{ toolName: 'count', input: {} }], 'Counted.']);
    await using before = await startTestGateway({ home, model, definitions: { planner: planner(1) }, agents, spaces });
    const [{ id }] = (await before.api('/api/agents')).items;
    await before.api(`/api/agents/${id}/events`, { source: 'test', name: 'go' });
    await waitFor(async () => (await before.api('/api/runs?status=completed')).items.length === 1);
  }
  const changed = await startStudio(browser(), { home, definitions: { planner: planner(2) }, agents, spaces });
  onTestFinished(() => changed.gateway.stop());
  const { api } = changed.gateway;
  const [{ id }] = (await api('/api/agents')).items;
  await api(`/api/agents/${id}/events`, { source: 'test', name: 'go' });
  await waitFor(async () => (await api(`/api/agents/${id}`)).status === 'invalid');
  const { page, problems } = await changed.open(`/agents/${id}`);
  await page.getByText('Invalid: it cannot run').waitFor();
  await page
    .getByRole('region', { name: 'Why its last run failed' })
    .getByText(/migrate/)
    .waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Resume', exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await waitFor(async () => (await api(`/api/runs?agentId=${id}&status=failed`)).items.length === 2);
  expect(problems).toEqual([]);
});
