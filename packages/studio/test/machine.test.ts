import { scriptedModel } from '@lastcall/core/testing';
import { waitFor } from '@lastcall/gateway/testing';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { desk } from '../../gateway/test/machines/desk.ts';
import { guards } from '../../gateway/test/machines/guards.ts';
import { accessibilityProblems } from './support/accessibility.ts';
import { useBrowser } from './support/browser.ts';
import { type Studio, startStudio } from './support/studio.ts';

const browser = useBrowser();
let studio: Studio;
let spaceId = '';
const call = (toolName: string, input: object = {}) => [{ toolName, input }];

/** Enters the space, lets two workers check, and goes on to a refund, which waits for approval. */
const model = scriptedModel(({ prompt }) => {
  const [instructions, said] = [String(prompt[0]?.content), JSON.stringify(prompt)];
  if (instructions.includes('Say no.')) return 'There is no money back.';
  if (instructions.includes('Guard one door.')) return call('lock');
  if (instructions.includes('Lead the guards.')) return call('transition_start');
  if (instructions.includes('Check one thing.')) return call('transition_report', { found: 'all is well' });
  if (instructions.includes('Refund the customer.'))
    return said.includes('"One moment."')
      ? call('pay_back', { order: 'A-1' })
      : call('send_message', { text: 'One moment.' });
  if (!said.includes('"toolName":"enter_space"')) return call('enter_space', { spaceId });
  return said.includes('all is well') ? call('transition_refund', { order: 'A-1' }) : call('transition_check_both');
});

beforeAll(async () => {
  studio = await startStudio(browser(), {
    model,
    definitions: { desk, guards },
    agents: [
      { name: 'Desk', definition: 'desk' },
      { name: 'Guards', definition: 'guards' },
    ],
    spaces: [{ name: 'Shop', agents: ['Desk'], people: [{ name: 'Ada' }] }],
  });
  const { api } = studio.gateway;
  [{ id: spaceId }] = (await api('/api/spaces')).items;
  await api(`/api/spaces/${spaceId}/messages`, { entityId: await studio.person('Ada'), text: 'Money back for A-1!' });
  await waitFor(async () => (await api('/api/pending')).items.length === 1);
});
afterAll(async () => await studio[Symbol.asyncDispose]());

const agentId = async (wanted = 'Desk'): Promise<string> =>
  (await studio.gateway.api('/api/agents')).items.find(({ name }: { name: string }) => name === wanted).id;
const section = (page: { getByRole: Locator['getByRole'] }, name: string) => page.getByRole('region', { name });

test('[A19] the page of a machine shows its tree and gives a command once, with a form for its input', async () => {
  const id = await agentId();
  const { page, problems } = await studio.open(`/agents/${id}`);
  await page.getByRole('link', { name: 'Machine', exact: true }).click();
  const instances = section(page, 'Instances');
  await instances.getByText('suspended').waitFor();
  expect(await instances.getByRole('listitem').first().textContent()).toContain('refund');
  await instances.getByText('"order": "A-1"').waitFor();
  await section(page, 'Calls that wait').getByText('waits for approval').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);

  await section(page, 'Commands').getByRole('button', { name: 'close' }).click();
  const dialog = page.getByRole('dialog', { name: 'Command close' });
  expect(await accessibilityProblems(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Run it' }).click();
  // The form says what is missing, and nothing is sent.
  await dialog.locator('[aria-invalid=true]').waitFor();
  await dialog.getByLabel('note').fill('paid by hand');
  await dialog.getByRole('button', { name: 'Run it' }).dblclick();
  await dialog.getByText('The command ran.').waitFor();
  await dialog.getByRole('region', { name: 'What it returned' }).getByText('paid by hand').waitFor();
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
  await instances.getByText('"order": "closed: paid by hand"').waitFor();
  const runs = (await studio.gateway.api(`/api/runs?agentId=${id}`)).items;
  const given = runs.filter(({ trigger }: { trigger: { type: string }[] }) => trigger[0]?.type === 'command');
  expect(given).toHaveLength(1);
  await page.goto(`${studio.gateway.url}/runs/${given[0].id}`);
  await page.getByText('the command close ran').waitFor();
  expect(problems).toEqual([]);
});

test('[A18] the run of a machine names the node of each step, and the space that of each message and card', async () => {
  const id = await agentId();
  const runs = (await studio.gateway.api(`/api/runs?agentId=${id}`)).items;
  const { page, problems } = await studio.open(`/runs/${runs.at(-1).id}`);
  const timeline = page.getByRole('region', { name: 'Timeline' });
  await timeline.getByRole('link', { name: /^Step 1 triage/ }).waitFor();
  await timeline.getByRole('link', { name: /^Step 3 check \(root\.[12]\)/ }).waitFor();
  await timeline.getByRole('link', { name: /^Step 7 refund/ }).click();
  const panel = page.getByRole('region', { name: 'Step 7' });
  await panel.getByRole('link', { name: 'Request' }).click();
  await panel.getByText(/\d+ messages?, \d+ tools?/).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole('link', { name: 'machine', exact: true }).click();
  await section(page, 'Instances').waitFor();
  await page.goto(`${studio.gateway.url}/spaces/${spaceId}`);
  await page.getByRole('article', { name: 'Desk, refund' }).getByText('One moment.').waitFor();
  await page.getByRole('article', { name: 'Desk, refund' }).getByText('pay_back').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  expect(problems).toEqual([]);
});

test('[A19] [A22] a conversation has its own machine, which shows its workers below the node that started them', async () => {
  const { api } = studio.gateway;
  const id = await agentId('Guards');
  const { run_id } = await api('/api/chat', { agent: 'Guards', message: 'Lock up.' });
  const { page, problems } = await studio.open(`/runs/${run_id}`);
  await page.getByRole('link', { name: 'machine', exact: true }).click();
  await page.getByText('This is the machine of one conversation.').waitFor();
  const lead = section(page, 'Instances').getByRole('listitem').filter({ hasText: 'lead' });
  const workers = lead.getByRole('listitem');
  expect(await workers.allTextContents()).toEqual(['guardroot.1suspendedworker', 'guardroot.2suspendedworker']);
  expect(await section(page, 'Calls that wait').getByRole('listitem').count()).toBe(2);
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole('link', { name: 'Show the agent’s own' }).click();
  await page.getByText('This is the machine of one conversation.').waitFor({ state: 'hidden' });
  expect(page.url()).toContain(`/agents/${id}?tab=machine`);
  expect(problems).toEqual([]);
});

test('[E3] [S6] a run of a machine is forked at a step of a worker, with other instructions of its node, and compared instance by instance', async () => {
  const runs = (await studio.gateway.api(`/api/runs?agentId=${await agentId()}`)).items;
  const [{ id }] = runs.filter(({ trigger }: { trigger: { type: string }[] }) => trigger[0]?.type === 'space_message');
  const { page, problems } = await studio.open(`/runs/${id}?call=step-3`);
  await page.getByRole('region', { name: 'Step 3' }).getByRole('button', { name: 'From here …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Fork at step 3' });
  await dialog.getByLabel('Other instructions').fill('Check one thing. Look twice.');
  expect(await dialog.getByLabel('Instructions and model of').locator('option').first().textContent()).toBe(
    'the node check',
  );
  expect(await accessibilityProblems(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Fork' }).click();
  await page.getByText('at step 3, changed: the node check').waitFor();
  // The original waits for approval at its end, and so does the fork, in its own call.
  await page.getByRole('list', { name: 'Calls that wait for you' }).getByText('pay_back waits').waitFor();
  await page.getByRole('link', { name: 'Compare with the original' }).click();
  const requests = page.getByRole('region', { name: 'Requests', exact: true });
  await requests.getByText('check (root.2)').click();
  const diff = requests.getByRole('region').first();
  await diff.locator('ins').first().waitFor();
  expect(await diff.locator('ins').first().textContent()).toContain('Look twice.');
  expect(problems).toEqual([]);
});

test('[S25] the workbench tries a machine with other instructions of a node, and calls with external effects wait', async () => {
  const id = await agentId();
  const { page, problems } = await studio.open(`/agents/${id}?tab=workbench`);
  const { api } = studio.gateway;
  const messages = async () => (await api(`/api/spaces/${spaceId}/messages`)).items.length;
  const before = await messages();
  const edit = page.getByRole('region', { name: 'Edit' });
  const node = edit.getByRole('group').filter({ hasText: /^refund/ });
  await node.getByText('refund', { exact: true }).click();
  expect(await edit.getByLabel('Instructions of refund').inputValue()).toBe('Refund the customer.');
  const field = page.getByRole('textbox', { name: /^Talk to|^Write|^Message/ }).last();
  await field.fill('Money back for A-1!');
  await expect.poll(() => page.getByRole('button', { name: 'Send', exact: true }).isEnabled()).toBe(true);
  await field.press('Enter');
  const chat = page.getByRole('log', { name: 'Conversation with the draft' });
  await chat.getByText('pay_back').first().waitFor();
  // Only the visible rows are in the page: the last ones while the draft works, the first ones if it already waits.
  const timeline = page.getByRole('region', { name: 'Timeline of the draft' });
  await timeline
    .getByText(/enter_space|send_message/)
    .first()
    .waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await edit.getByLabel('Instructions of refund').fill('Say no.');
  await node.getByText('changed').waitFor();
  // Nothing can be sent until the run waits.
  await expect.poll(() => page.getByRole('button', { name: 'Send the last message again' }).isEnabled()).toBe(true);
  await page.keyboard.press('Control+Enter');
  await chat.getByText('There is no money back.', { exact: true }).first().waitFor();
  await chat.getByText('with other node refund').first().waitFor();
  // A reload keeps the edits, and nothing has reached the space.
  await page.reload();
  await chat.getByText('There is no money back.', { exact: true }).first().waitFor();
  await node.getByText('changed').waitFor();
  await edit.getByRole('button', { name: 'Restore all nodes' }).click();
  await expect.poll(() => node.getByText('changed').count()).toBe(0);
  expect(await messages()).toBe(before);
  expect(problems).toEqual([]);
});
