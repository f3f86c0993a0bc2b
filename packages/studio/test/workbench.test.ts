import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { accessibilityProblems } from './support/accessibility.ts';
import { useBrowser } from './support/browser.ts';
import { type Studio, startStudio } from './support/studio.ts';

const browser = useBrowser();
let studio: Studio;
let agentId: string;
let paid = 0;
let isDown = false;
const slow = Promise.withResolvers<string>();

let paused: PromiseWithResolvers<void> | undefined;

/** The reply depends on the instructions, so that it shows which ones are tried. */
const scripted = scriptedModel(({ prompt }) => {
  if (isDown) throw new Error('The model is down.');
  // An agent in spaces also has its situation at the end of the request.
  const last = prompt.findLast((message) => !JSON.stringify(message).includes('<situation-'));
  if (last?.role === 'tool')
    return JSON.stringify(prompt[0]).includes('Be brief') ? 'On Monday.' : 'It was sent on Monday.';
  const said = JSON.stringify(last);
  if (said.includes('refund')) return { toolName: 'refund', input: { order: 'A-17', euros: 40 } };
  return { toolName: said.includes('slowly') ? 'wait' : 'find_order', input: { order: 'A-17' } };
});

/** The same, except that it can stop in the middle of an answer. */
const model: typeof scripted = {
  ...scripted,
  async doStream(request) {
    const { stream, ...rest } = await scripted.doStream(request);
    const pausing = new TransformStream({
      async transform(part, controller) {
        controller.enqueue(part);
        if (part.type === 'text-delta') await paused?.promise;
      },
    });
    return { ...rest, stream: stream.pipeThrough(pausing) };
  },
};

beforeAll(async () => {
  const inputSchema = z.object({ order: z.string() });
  studio = await startStudio(browser(), {
    model,
    tools: {
      find_order: tool({ description: 'Finds an order.', inputSchema, effects: 'none', execute: () => 'Monday' }),
      wait: tool({ description: 'Waits.', inputSchema, effects: 'none', execute: () => slow.promise }),
      refund: tool({
        description: 'Pays an order back.',
        inputSchema: inputSchema.extend({ euros: z.number() }),
        execute: () => `Paid, number ${++paid}.`,
      }),
    },
    agents: [{ name: 'Support', instructions: 'Look before you answer.', tools: ['find_order', 'refund', 'wait'] }],
    spaces: [{ name: 'Desk', agents: ['Support'], people: [{ name: 'Ada' }, { name: 'Ben' }] }],
  });
  agentId = (await studio.gateway.api('/api/agents')).items[0].id;
});
afterAll(async () => {
  slow.resolve('late');
  await studio[Symbol.asyncDispose]();
});

const chat = (page: Page) => page.getByRole('log', { name: 'Conversation with the draft' });
const timeline = (page: Page) => page.getByRole('region', { name: 'Timeline', exact: true });

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Write to the draft').fill(text);
  // An answer is visible a moment before its run has ended, and nothing can be sent until then.
  await expect.poll(() => page.getByRole('button', { name: 'Send', exact: true }).isEnabled()).toBe(true);
  await page.getByLabel('Write to the draft').press('Control+Enter');
}

/** Everything that people in the space and the agent itself could see. */
async function noticed(): Promise<unknown> {
  const { api } = studio.gateway;
  const { id } = (await api('/api/spaces')).items[0];
  const [messages, members] = [await api(`/api/spaces/${id}/messages`), await api(`/api/spaces/${id}/members`)];
  const parts = ['goals', 'memories', 'plans', 'inbox', 'transcript'];
  return [messages, members, ...(await Promise.all(parts.map((part) => api(`/api/agents/${agentId}/${part}`))))];
}

test('[S25] a new agent opens in its workbench: edit, talk, see the timeline, send again, compare, reload and save as a version', async () => {
  const before = await noticed();
  const { page, problems } = await studio.open('/agents');
  await page.getByRole('button', { name: 'New agent' }).click();
  const form = page.getByRole('dialog', { name: 'New agent' });
  await form.getByLabel('Name').fill('Clerk');
  await form.getByLabel('Instructions').fill('Answer in whole sentences.');
  await form.getByRole('checkbox', { name: /^find_order/ }).check();
  await form.getByRole('button', { name: 'Create agent' }).click();
  await page.getByText('Talk to Clerk as you edit it.').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);

  // The answer appears while it is written.
  paused = Promise.withResolvers();
  await say(page, 'Where is A-17?');
  await chat(page).getByText('It was', { exact: true }).waitFor();
  expect(await chat(page).getByText('The draft is at work.').isVisible()).toBe(true);
  paused.resolve();
  paused = undefined;
  await chat(page).getByText('The draft is at work.').waitFor({ state: 'detached' });
  await chat(page).getByText('It was sent on Monday.').waitFor();
  await chat(page).getByText('v1', { exact: true }).waitFor();
  await timeline(page).getByText('find_order').waitFor();

  // The change is not saved, and Ctrl+Enter sends again without leaving the field.
  const instructions = page.getByRole('textbox', { name: 'Instructions' });
  await instructions.fill('Be brief.');
  await page.getByText('Not saved: instructions. Only this chat uses it.').waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Send the last message again' }).isEnabled()).toBe(true);
  await instructions.press('Control+Enter');
  const compared = page.getByRole('region', { name: 'Compared with the answer before' });
  await compared.getByText('v1 with other instructions').waitFor();
  const diff = compared.getByRole('region', { name: 'Answer before and now' });
  await diff.locator('ins').waitFor();
  expect(await diff.locator('ins').textContent()).toContain('On Monday.');
  expect(await diff.locator('del').textContent()).toContain('It was sent on Monday.');
  for (const row of ['Calls find_order find_order', /^Tokens \d+ \d+$/, /^Time .+s .+s$/])
    await compared.getByRole('row', { name: row }).waitFor();
  expect(await instructions.evaluate((field) => field === document.activeElement)).toBe(true);

  // The conversation continues, and a reload loses neither the edits nor the messages.
  await say(page, 'And where is A-18?');
  await expect.poll(() => chat(page).getByText('On Monday.', { exact: true }).count()).toBe(2);
  await page.reload();
  await expect.poll(() => chat(page).getByText('On Monday.', { exact: true }).count()).toBe(2);
  expect(await instructions.inputValue()).toBe('Be brief.');
  expect(await accessibilityProblems(page)).toEqual([]);
  const { items } = await studio.gateway.api('/api/agents');
  const { id } = items.find(({ name }: { name: string }) => name === 'Clerk');
  const saved = async () => (await studio.gateway.api(`/api/agents/${id}`)).config.instructions;
  expect(await saved()).toBe('Answer in whole sentences.');

  await page.getByRole('button', { name: 'Save as v2' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save v2' }).click();
  await page.getByText('Version 2, as saved.').waitFor();
  expect(await saved()).toBe('Be brief.');
  await page.getByRole('button', { name: 'Start over' }).click();
  await page.getByText('Talk to Clerk as you edit it.').waitFor();
  expect(await noticed()).toEqual(before);
  expect(problems).toEqual([]);
});

test('[S25] on a phone, a call that acts outside waits as a card, a run can be stopped, a failure has its cause, and offline loses no text', async () => {
  const before = await noticed();
  const { page, problems } = await studio.open(`/agents/${agentId}?tab=workbench`, { width: 380, theme: 'dark' });
  await say(page, 'I want a refund.');
  const card = page.getByRole('list', { name: 'Calls that wait for you' });
  await card.getByText('refund waits').waitFor();
  await card.getByText('40').waitFor();
  expect(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true);
  expect(await accessibilityProblems(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(380);
  await card.getByLabel('Run it for real').fill('find_order');
  await card.getByRole('button', { name: 'Run for real' }).click();
  await card.getByText('To confirm that, answer with').waitFor();
  expect(paid).toBe(0);
  await card.getByLabel('Give it a result').fill('as good as paid');
  await card.getByRole('button', { name: 'Give the result' }).click();
  await chat(page).getByText('It was sent on Monday.').waitFor();
  expect(paid).toBe(0);

  await say(page, 'Look slowly.');
  await chat(page).getByText('The draft is at work.').waitFor();
  await page.getByRole('link', { name: 'Timeline', exact: true }).click();
  await timeline(page).getByText('wait', { exact: true }).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole('link', { name: 'Chat', exact: true }).click();
  // The page says why nothing can be sent meanwhile.
  await page.getByText('You can send when the draft has answered').waitFor();
  await chat(page).getByRole('button', { name: 'Stop' }).click();
  await chat(page).getByText('cancelled', { exact: true }).waitFor();

  isDown = true;
  await say(page, 'Where is A-17?');
  await chat(page).getByText('The model is down.').first().waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  isDown = false;
  await page.getByRole('button', { name: 'Send the last message again' }).click();
  await expect.poll(() => chat(page).getByText('It was sent on Monday.', { exact: true }).count()).toBe(2);
  // The error is the refused answer for another tool.
  expect(problems).toEqual([expect.stringContaining('409')]);

  await page.context().setOffline(true);
  await page.getByLabel('Write to the draft').fill('Are you there?');
  await page.getByLabel('Write to the draft').press('Control+Enter');
  // The second text appears if the page has noticed before that it is offline.
  await page
    .getByText(/^Nothing was sent\.|^You are offline: nothing is sent/)
    .first()
    .waitFor();
  expect(await page.getByLabel('Write to the draft').inputValue()).toBe('Are you there?');
  await page.context().setOffline(false);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect.poll(() => chat(page).getByText('It was sent on Monday.', { exact: true }).count()).toBe(3);
  expect(await noticed()).toEqual(before);
});

test('[S25] of two people who edit, the second one to save gets a notice and loses nothing', async () => {
  const [ada, ben] = [
    await studio.open(`/agents/${agentId}?tab=workbench`),
    await studio.open(`/agents/${agentId}?tab=workbench`, { as: 'Ben' }),
  ];
  await ada.page.getByRole('textbox', { name: 'Instructions' }).fill('Be kind, says Ada.');
  await ben.page.getByRole('textbox', { name: 'Instructions' }).fill('Be strict, says Ben.');
  await ada.page.getByRole('button', { name: 'Save as v2' }).click();
  await ada.page.getByRole('dialog').getByRole('button', { name: 'Save v2' }).click();
  await ada.page.getByText('Version 2, as saved.').waitFor();
  const note = ben.page.getByRole('alert', { name: 'Another user saved' });
  await note.getByText('Another user saved version 2 while you were editing version 1.').waitFor();
  expect(await ben.page.getByRole('button', { name: /^Save as/ }).isDisabled()).toBe(true);
  await ben.page.reload();
  await note.waitFor();
  expect(await ben.page.getByRole('textbox', { name: 'Instructions' }).inputValue()).toBe('Be strict, says Ben.');
  await note.getByRole('button', { name: 'Keep mine, on top of theirs' }).click();
  await ben.page.getByRole('button', { name: 'Save as v3' }).click();
  await ben.page.getByRole('dialog').getByRole('button', { name: 'Save v3' }).click();
  await ben.page.getByText('Version 3, as saved.').waitFor();
  expect((await studio.gateway.api(`/api/agents/${agentId}`)).config.instructions).toBe('Be strict, says Ben.');
  expect([...ada.problems, ...ben.problems]).toEqual([]);
});
