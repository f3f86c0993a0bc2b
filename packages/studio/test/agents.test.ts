import { tool } from '@lastcall/core';
import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { useBrowser } from './support/browser.ts';
import { type Studio, startStudio } from './support/studio.ts';

const browser = useBrowser();
let studio: Studio;
let hasKey = false;
const replies: ScriptedReply[] = [];

beforeAll(async () => {
  studio = await startStudio(browser(), {
    // Fails like a model without a key, until the test sets one.
    model: scriptedModel(() => {
      if (!hasKey) throw new Error('The model has no key.');
      return replies.shift() ?? 'Good morning.';
    }),
    limits: { retryMs: 1, agent: { maxAttempts: 1 } },
    agents: [{ name: 'Concierge', instructions: 'Be kind.\nBe brief.', tools: ['add'] }],
    tools: {
      add: tool({
        description: 'Adds.',
        inputSchema: z.object({ a: z.number() }),
        effects: 'none',
        execute: ({ a }) => a,
      }),
      pay: tool({ description: 'Pays.', inputSchema: z.object({ sum: z.number() }), execute: () => 'paid' }),
    },
    spaces: [{ name: 'Desk', agents: ['Concierge'], people: [{ name: 'Ada' }, { name: 'Ben' }] }],
  });
});
afterAll(async () => await studio[Symbol.asyncDispose]());

const agentNamed = async (
  name: string,
): Promise<{ id: string; status: string; configVersion: number; inbox: { dead: number } }> =>
  (await studio.gateway.api('/api/agents')).items.find((one: { name: string }) => one.name === name);

test('[S7] an agent is paused and resumed after a question, with the keyboard alone', async () => {
  const { page, problems } = await studio.open('/agents');
  await page.getByRole('link', { name: 'Concierge', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Concierge' }).waitFor();
  await page.getByRole('button', { name: 'Pause' }).focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Pause Concierge?' });
  await dialog.getByRole('button', { name: 'Pause', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('Paused: events wait').waitFor();
  expect((await agentNamed('Concierge')).status).toBe('paused');
  await page.getByRole('button', { name: 'Resume' }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Resume', exact: true }).press('Enter');
  await page.getByText('Active: it handles events as they arrive').waitFor();
  expect(problems).toEqual([]);
});

test('[S7] a changed configuration is checked at its fields, shown as a difference, saved as a version, and can be restored', async () => {
  const { id } = await agentNamed('Concierge');
  const { page, problems } = await studio.open(`/agents/${id}?tab=config`);
  await page.getByText('This agent comes from the configuration file').waitFor();
  const save = page.getByRole('button', { name: /^Review and save/ });
  expect(await save.isDisabled()).toBe(true);

  // The placeholders are the defaults of the gateway, some of which its configuration has changed.
  await expect.poll(() => page.getByLabel('Attempts').getAttribute('placeholder')).toBe('1');
  expect(await page.getByLabel('Steps').getAttribute('placeholder')).toBe('64');
  await page.getByLabel('Steps').fill('many');
  await save.click();
  await page.getByText('Write a whole number.').waitFor();
  await page.getByLabel('Steps').fill('0');
  await save.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save v2' }).click();
  // The gateway's error message, at the field.
  await page.getByText('must be 1 or more').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await page.getByLabel('Steps').getAttribute('aria-invalid')).toBe('true');

  await page.getByLabel('Steps').fill('7');
  await page.getByRole('textbox', { name: 'Instructions' }).fill('Be kind.\nBe very brief.');
  await page.getByRole('checkbox', { name: /^pay/ }).check();
  await save.click();
  const review = page.getByRole('dialog', { name: 'Version 1 → 2' });
  await review.getByText('− Be brief.').waitFor();
  await review.getByText('+ Be very brief.').waitFor();
  await review.getByRole('button', { name: 'Save v2' }).click();
  await page.getByRole('heading', { name: 'Configuration, version 2' }).waitFor();
  expect((await studio.gateway.api(`/api/agents/${id}`)).config).toMatchObject({
    instructions: 'Be kind.\nBe very brief.',
    tools: ['add', 'pay'],
    limits: { maxSteps: 7 },
  });

  await page.getByRole('button', { name: 'View version 1' }).click();
  await page.getByRole('dialog', { name: 'Version 1' }).getByRole('button', { name: 'Restore as v3 …' }).click();
  await page.getByRole('dialog', { name: 'Version 2 → 3' }).getByRole('button', { name: 'Save v3' }).click();
  await page.getByRole('heading', { name: 'Configuration, version 3' }).waitFor();
  const { config } = await studio.gateway.api(`/api/agents/${id}`);
  expect(config).toEqual({ name: 'Concierge', instructions: 'Be kind.\nBe brief.', tools: ['add'] });

  await page.getByRole('button', { name: 'Edit as JSON' }).click();
  const json = page.getByLabel('Configuration as JSON');
  await json.fill(JSON.stringify({ ...config, batch: { onError: 'explode' } }));
  await save.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save v4' }).click();
  await page.getByText('batch.onError').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await json.fill(JSON.stringify({ ...config, batch: { onError: 'cancel-rest' } }));
  await save.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save v4' }).click();
  await page.getByRole('heading', { name: 'Configuration, version 4' }).waitFor();
  await page.getByRole('button', { name: 'Back to the fields' }).click();
  await page.getByText('Also set, and left unchanged: batch').waitFor();
  // A refused request is an error of the console: only the two that the gateway refused.
  expect(problems.filter((one) => !one.includes('422'))).toEqual([]);
});

test('[S7] two people who edit the same agent do not overwrite each other: typed text stays, and the other change is shown', async () => {
  const { id } = await agentNamed('Concierge');
  const ada = await studio.open(`/agents/${id}?tab=config`);
  const ben = await studio.open(`/agents/${id}?tab=config`, { as: 'Ben' });
  const { configVersion } = await agentNamed('Concierge');
  const next = configVersion + 1;
  await ada.page.getByRole('textbox', { name: 'Instructions' }).fill('Typed by Ada.');
  await ben.page.getByRole('textbox', { name: 'Instructions' }).fill('Saved by Ben.');
  await ben.page.getByLabel('Description').fill('Ben was here.');
  await ben.page.getByRole('button', { name: /^Review and save/ }).click();
  await ben.page
    .getByRole('dialog')
    .getByRole('button', { name: `Save v${next}` })
    .click();
  await ben.page.getByRole('heading', { name: `Configuration, version ${next}` }).waitFor();

  const note = ada.page.getByRole('alert', { name: 'Another user saved' });
  await note.getByText('You both changed: Instructions').waitFor();
  expect(await ada.page.getByRole('textbox', { name: 'Instructions' }).inputValue()).toBe('Typed by Ada.');
  await note.getByText('What they changed').click();
  await note.getByText('+ Saved by Ben.').waitFor();
  await note.getByRole('button', { name: 'Keep mine, on top of theirs' }).click();
  await expect.poll(() => ada.page.getByLabel('Description').inputValue()).toBe('Ben was here.');
  await ada.page.getByRole('button', { name: /^Review and save/ }).click();
  await ada.page
    .getByRole('dialog')
    .getByRole('button', { name: `Save v${next + 1}` })
    .click();
  await ada.page.getByRole('heading', { name: `Configuration, version ${next + 1}` }).waitFor();
  expect((await studio.gateway.api(`/api/agents/${id}`)).config).toMatchObject({
    instructions: 'Typed by Ada.',
    description: 'Ben was here.',
  });
  // Ben has typed nothing, so his form follows.
  await ben.page.getByRole('heading', { name: `Configuration, version ${next + 1}` }).waitFor();
  const bens = ben.page.getByRole('textbox', { name: 'Instructions' });
  await expect.poll(() => bens.inputValue()).toBe('Typed by Ada.');
  expect([...ada.problems, ...ben.problems]).toEqual([]);
});

test('[S7] a save that comes too late is refused by the gateway and loses nothing that was typed', async () => {
  const { id } = await agentNamed('Concierge');
  const { page, problems } = await studio.open(`/agents/${id}?tab=config`);
  const { configVersion: at } = await agentNamed('Concierge');
  await page.getByRole('textbox', { name: 'Instructions' }).fill('Typed here.');
  await page.getByRole('button', { name: /^Review and save/ }).click();
  const review = page.getByRole('dialog');
  await review.getByText('+ Typed here.').waitFor();
  // Another change is saved between the review and the click.
  await studio.gateway.api(`/api/agents/${id}`, { description: 'In between.' }, { method: 'PATCH' });
  await review.getByRole('button', { name: /^Save v/ }).click();
  await page.getByRole('alert', { name: 'Another user saved' }).getByText('both changes can be kept').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await page.getByRole('textbox', { name: 'Instructions' }).inputValue()).toBe('Typed here.');
  const { config, configVersion } = await studio.gateway.api(`/api/agents/${id}`);
  expect({ configVersion, description: config.description }).toEqual({
    configVersion: at + 1,
    description: 'In between.',
  });
  expect(config.instructions).not.toBe('Typed here.');
  // A click elsewhere does not lose it either.
  await page.getByRole('link', { name: 'Tools' }).click();
  const leaving = page.getByRole('dialog', { name: 'Leave without saving?' });
  await leaving.getByRole('button', { name: 'Cancel' }).click();
  expect(await page.getByRole('textbox', { name: 'Instructions' }).inputValue()).toBe('Typed here.');
  await page.getByRole('link', { name: 'Tools' }).click();
  await leaving.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { name: 'Tools' }).waitFor();
  expect(problems.filter((one) => !one.includes('409'))).toEqual([]);
});

test('[S7] a dead event says why it died, and is redriven once the cause is fixed', async () => {
  const { id } = await agentNamed('Concierge');
  await studio.gateway.api(`/api/agents/${id}/events`, { source: 'shop', name: 'order.paid' });
  await expect.poll(async () => (await agentNamed('Concierge')).inbox.dead).toBe(1);
  const { page, problems } = await studio.open('/agents');
  await page.getByRole('link', { name: 'inbox 0, dead 1' }).click();
  const event = page
    .getByRole('list', { name: 'Events' })
    .getByRole('listitem')
    .filter({ hasText: 'order.paid from shop' });
  await event.getByText('The model has no key.').waitFor();
  await event.getByText('1 attempt').waitFor();
  const { page: settings } = await studio.open('/settings?tab=gateway');
  await settings.getByRole('link', { name: 'dead events 1' }).click();
  await settings.waitForURL('**/runs?status=failed');
  await settings.getByRole('list', { name: 'Runs' }).getByText('order.paid').waitFor();
  hasKey = true;
  await event.getByRole('button', { name: 'Redrive' }).click();
  await page.getByText('1 event was put back into the inbox.').waitFor();
  await event.getByText('done').waitFor();
  await page.getByRole('link', { name: 'Memory' }).click();
  await page.getByText('Good morning.').waitFor();
  await page.getByRole('link', { name: 'Runs', exact: true }).nth(1).click();
  await page.getByRole('link', { name: 'All its runs, with filters' }).waitFor();
  // A word says how each ended, and not only an icon.
  const runs = page.getByRole('list', { name: 'Runs' });
  await runs.getByText('completed', { exact: true }).first().waitFor();
  await runs
    .getByText(/^failed: /)
    .first()
    .waitFor();
  expect(problems).toEqual([]);
});

test('[S7] plans, goals and memories of an agent are shown, and all dead events are redriven at once', async () => {
  const { id } = await agentNamed('Concierge');
  replies.push([
    { toolName: 'set_goals', input: { goals: [{ key: 'lamp', description: 'Sell the lamp', priority: 2 }] } },
    { toolName: 'set_memories', input: { memories: [{ key: 'price', value: { lamp: 40 } }] } },
    {
      toolName: 'set_plans',
      input: {
        plans: [
          {
            name: 'Report',
            instruction: 'Write it.',
            cron: '0 9 * * MON-FRI',
            timeZone: 'Europe/Berlin',
            misfire: 'skip',
          },
        ],
      },
    },
  ]);
  await studio.gateway.api(`/api/agents/${id}/events`, { source: 'shop', name: 'opened' });
  const { page, problems } = await studio.open(`/agents/${id}?tab=plans`);
  const plan = page.getByRole('list', { name: 'Plans' }).getByRole('listitem');
  await plan.getByText(/^Next: .*, 09:00 \(Europe\/Berlin\), in [\d.]+ (ms|s|min|h|d)$/).waitFor();
  await plan.getByText('Monday to Friday at 09:00').waitFor();
  await plan.getByText('If it is missed, it is skipped.').waitFor();
  await page.getByRole('link', { name: 'Memory' }).click();
  await page.getByRole('region', { name: 'Goals' }).getByText('Sell the lamp').waitFor();
  await page.getByRole('region', { name: 'Memories' }).getByText('"lamp": 40').waitFor();
  await page.getByText('opened from shop').waitFor();

  hasKey = false;
  for (const name of ['one', 'two']) {
    await studio.gateway.api(`/api/agents/${id}/events`, { source: 'shop', name });
    await expect.poll(async () => (await agentNamed('Concierge')).inbox.dead).toBe(name === 'one' ? 1 : 2);
  }
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByText('The model has no key.').waitFor();
  await page.getByRole('link', { name: 'redrive them' }).click();
  await page.getByRole('link', { name: 'dead 2' }).click();
  await page.getByText('one from shop').waitFor();
  hasKey = true;
  await page.getByRole('button', { name: 'Redrive all 2' }).click();
  await page.getByText('2 events were put back into the inbox.').waitFor();
  await page.getByText('No event is dead.').waitFor();
  expect(problems).toEqual([]);
});

test('[S7] an agent is created with a form, and deleted once its name is typed', async () => {
  const { page, problems } = await studio.open('/agents');
  await page.getByRole('button', { name: 'New agent' }).click();
  const form = page.getByRole('dialog', { name: 'New agent' });
  await form.getByLabel('Name').fill('Clerk');
  await form.getByLabel('Instructions').fill('File everything.');
  await form.getByRole('checkbox', { name: /^add/ }).check();
  await form.getByRole('checkbox', { name: 'Desk' }).check();
  await form.getByRole('button', { name: 'Create agent' }).click();
  await page.getByRole('heading', { name: 'Clerk' }).waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('link', { name: 'Desk' }).waitFor();
  const { id } = await agentNamed('Clerk');
  expect((await studio.gateway.api(`/api/agents/${id}`)).config.tools).toEqual(['add']);

  await page.getByRole('button', { name: 'Delete the agent' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete Clerk?' });
  const remove = dialog.getByRole('button', { name: 'Delete for good' });
  expect(await remove.isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill('Clerk');
  await remove.click();
  await page.getByRole('heading', { name: 'Agents' }).waitFor();
  await page.getByRole('link', { name: 'Clerk', exact: true }).waitFor({ state: 'detached' });
  expect(problems).toEqual([]);
});

test('[S7] a page of an agent that another user deletes says so, and keeps what was typed', async () => {
  const { api } = studio.gateway;
  const { id } = await api('/api/agents', { name: 'Passing', instructions: 'Help.' });
  const { page } = await studio.open(`/agents/${id}?tab=config`);
  await page.getByLabel('Instructions').fill('Help everyone.');
  await api(`/api/agents/${id}`, undefined, { method: 'DELETE' });
  await page.getByRole('alert').getByText('This agent was deleted.').waitFor();
  expect(await page.getByText('active', { exact: true }).count()).toBe(0);
  expect(await page.getByLabel('Instructions').inputValue()).toBe('Help everyone.');
});
