import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Home, Run, Story } from '@lastcall/client';
import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, waitFor } from '@lastcall/gateway/testing';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityProblems } from '../support/accessibility.ts';
import { useBrowser } from '../support/browser.ts';
import { type Studio, startStudio } from '../support/studio.ts';
import { answer, calls, deskOptions, gate, runOf, say, tools } from './desk.ts';

const browser = useBrowser();

let studio: Studio;
let home: string;
/** The runs that the crash left, and those that ended otherwise. */
const runs = { taken: '', lost: '', approved: '', denied: '', expired: '' };

const pick = {
  pick_colour: {
    description: 'Asks for a colour.',
    executionType: 'space',
    inputSchema: { type: 'object', properties: { question: { type: 'string' } } },
    resultSchema: { type: 'string' },
    expiresInMs: 1_000,
  },
} as const;

const options = (replies: readonly ScriptedReply[]) => {
  const { agents = [], ...rest } = deskOptions(replies, { home, leaseMs: 1_000, tools: { ...tools, ...pick } });
  const [concierge, ...others] = agents;
  const asking = { ...concierge, tools: [...(concierge?.tools ?? []), 'pick_colour'], limits: { maxAttempts: 1 } };
  return { ...rest, agents: [asking, ...others] as typeof agents };
};

const pays = (to: string): ScriptedReply => calls(['pay_invoice', { amount: 120, to }]);

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'lastcall-story-'));
  const events = await beginAndStop();
  studio = await startStudio(
    browser(),
    options([
      // The scout has used its only step.
      'It is recorded.',
      ...[pays('Inn'), 'I have asked.', 'It is paid.'],
      ...[pays('Ritz'), 'I have asked again.', 'I see.'],
      ...[calls(['pick_colour', { question: 'Which one?' }]), 'I wait.', 'No one answered.'],
      ...[new Error('The model is away.'), 'I am back.'],
      ...[pays('Grand'), 'I have asked once more.', 'The Grand is paid.'],
    ]),
  );
  const { gateway } = studio;
  runs.taken = await runOf(gateway, events.taken);
  runs.lost = await runOf(gateway, events.lost);
  runs.approved = await runOf(gateway, await say(gateway, 'Pay the Inn.'));
  await answer(gateway, 'pay_invoice', { approve: true });
  runs.denied = await runOf(gateway, await say(gateway, 'Pay the Ritz.'));
  await answer(gateway, 'pay_invoice', { deny: 'Too expensive.' });
  runs.expired = await runOf(gateway, await say(gateway, 'Which colour?'));
  const { waits } = await storyOf(runs.expired);
  await runOf(gateway, `tool_result:${waits[0]?.callId}`);
});

afterAll(async () => {
  await studio?.[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

/** Stops a gateway inside two calls, which leaves two runs for another worker. Returns the events of these runs. */
async function beginAndStop(): Promise<{ taken: string; lost: string }> {
  const letGo = Promise.withResolvers<void>();
  gate.current = letGo.promise;
  const reply: ScriptedReply = ({ prompt }) =>
    calls([JSON.stringify(prompt).includes('fax') ? 'send_fax' : 'record_trip']);
  // The stop does not wait for active calls.
  const tuning = { graceMs: 100 };
  await using gateway = await startTestGateway({ ...options([]), model: scriptedModel([reply, reply]), tuning });
  const taken = await say(gateway, 'Record my trip.');
  const lost = await say(gateway, 'Send a fax.', 'Lookout');
  for (const eventId of [taken, lost]) {
    const id = await runOf(gateway, eventId, ['running']);
    await waitFor(async () => {
      const { items } = await gateway.api(`/api/runs/${id}/transcript`);
      return items.some(({ kind }: { kind: string }) => kind === 'started');
    });
  }
  gate.current = Promise.resolve();
  return { taken, lost };
}

const storyOf = async (id: string): Promise<Story> => await studio.gateway.api(`/api/runs/${id}/story`);
const timelineOf = (page: Page): Locator => page.getByRole('region', { name: 'Timeline' });

const ENDS = [
  { run: 'approved', tool: 'pay_invoice', status: 'ok', word: 'ok' },
  { run: 'denied', tool: 'pay_invoice', status: 'denied', word: 'denied' },
  { run: 'expired', tool: 'pick_colour', status: 'expired', word: 'expired' },
  { run: 'taken', tool: 'record_trip', status: 'ok', word: 'ok' },
  { run: 'lost', tool: 'send_fax', status: 'unknown', word: 'unknown outcome' },
] as const;

test('[S22] after an approval, a denial, an expiry, a crash and a takeover, every page and the API give a call the same status', async () => {
  const { page, problems } = await studio.open('/runs');
  const { api } = studio.gateway;
  for (const { run: name, tool, status, word } of ENDS) {
    const id = runs[name];
    const run: Run = await api(`/api/runs/${id}`);
    expect(run.status).toBe('completed');
    expect(run.counts[status]).toBe(1);
    const { items } = (await api(`/api/runs?outcome=${status}`)) as { items: readonly Run[] };
    expect(items.map((one) => one.id)).toContain(id);
    expect((await storyOf(id)).status).toBe('completed');

    await page.goto(`${studio.gateway.url}/runs?outcome=${status}`);
    const row = page.getByRole('list', { name: 'Runs' }).locator(`a[href^="/runs/${id}"]`);
    await row.getByText(`1 ${word}`).waitFor();
    await row.click();
    await timelineOf(page)
      .getByRole('link', { name: new RegExp(`${word} ${tool}`) })
      .click();
    await page
      .getByRole('region', { name: `Call ${tool}` })
      .getByText(word, { exact: true })
      .first()
      .waitFor();
    const callId = new URL(page.url()).searchParams.get('call') ?? '';
    expect(await api(`/api/calls/${callId}`)).toMatchObject({ status });
    const { card } = await api(`/api/calls/${callId}`);
    await page.goto(`${studio.gateway.url}/spaces/${card.spaceId}?at=${card.seq}`);
    await page.locator(`[data-card="${callId}"]`).getByText(word, { exact: true }).first().waitFor();
  }
  expect(problems).toEqual([]);
});

test('[S22] a task is one story, from its text to the wait and the end, on the page of each of its runs', async () => {
  const story = await storyOf(runs.approved);
  expect(story.runs).toHaveLength(2);
  const { page, problems } = await studio.open(`/runs/${story.runs[1]?.id}`);
  for (const [index, { id }] of story.runs.entries()) {
    await page.goto(`${studio.gateway.url}/runs/${id}`);
    await page.getByRole('heading', { name: 'Pay the Inn.', level: 1 }).waitFor();
    await page.getByText(`${index + 1} of 2 of this task`).waitFor();
    const wait = timelineOf(page)
      .locator('div', { hasText: /^waited/ })
      .last();
    await timelineOf(page)
      .getByText(/^Ada approved pay_invoice after /)
      .waitFor();
    expect(await wait.locator('.hatched').count()).toBe(1);
    const texts = await timelineOf(page).getByRole('link').allInnerTexts();
    const lines = texts.map((text) =>
      text
        .split(/\s+/)
        .join(' ')
        .replace(/ , \d+(\.\d+)? m?s$/, ''),
    );
    expect(lines).toEqual([
      'Step 1 model 15 tok',
      expect.stringMatching(/^1 ok pay_invoice amount: 120, to: Inn/),
      'Step 2 model I have asked. 15 tok',
      expect.stringMatching(/^Run \d+ /),
      'Step 1 model It is paid. 15 tok',
    ]);
  }
  // A step of another run of the task opens in place, and its request is that of its own run.
  await timelineOf(page)
    .getByRole('link', { name: /I have asked/ })
    .click();
  await page.waitForURL(`**/runs/${runs.approved}?call=step-2`);
  const request = page.getByRole('region', { name: 'Step 2' });
  await request.getByRole('link', { name: 'Request' }).click();
  await request.getByText(/messages, .* new since step 1/).waitFor();
  // Messages of the previous step are folded: the request opens at the new ones.
  await request.getByRole('list', { name: 'Messages', exact: true }).getByText('result of pay_invoice').waitFor();
  expect(await request.getByText('Pay the Inn.').first().isVisible()).toBe(false);
  await request.getByText(/messages?, as in step 1/).click();
  await request.getByText('Pay the Inn.').first().waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  expect(problems).toEqual([]);
});

test('[S22] a crash is shown: both attempts of the call, the kill between them, one key, done once', async () => {
  const { page, problems } = await studio.open(`/runs/${runs.taken}`);
  const row = timelineOf(page).getByRole('link', { name: /ok record_trip/ });
  await row.getByText('2 attempts, one key, done once').waitFor();
  expect(await row.locator('[data-lost-attempt]').count()).toBe(1);
  await row.click();
  const panel = page.getByRole('region', { name: 'Call record_trip' });
  await panel.getByRole('link', { name: 'Receipt' }).click();
  await panel.getByText(/^1: .* which was lost after/).waitFor();
  await panel.getByText(/^2: .* with the same idempotency key$/).waitFor();
  await panel.getByText('Done once.').waitFor();
  const callId = new URL(page.url()).searchParams.get('call') ?? '';
  expect(await studio.gateway.api(`/api/calls/${callId}`)).toMatchObject({ idempotencyKey: callId });
  expect(problems).toEqual([]);
});

test('[S22] the answer of a task is a document with a separate link, and leads to the calls that it is based on', async () => {
  const { page, problems } = await studio.open(`/runs/${runs.approved}`);
  await page.getByRole('link', { name: 'The answer' }).click();
  await page.waitForURL('**?view=answer');
  await page.reload();
  const answered = page.getByRole('region', { name: 'The answer' });
  await answered.getByRole('article').getByText('It is paid.').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await answered
    .getByRole('region', { name: 'What it rests on' })
    .getByRole('link', { name: /pay_invoice/ })
    .click();
  await page.getByRole('region', { name: 'Call pay_invoice' }).waitFor();
  expect(problems).toEqual([]);
});

test('[S23] [S24] home leads to a failed run with one click, which shows the error and the request, and can be retried there', async () => {
  const { gateway } = studio;
  const failed = await runOf(gateway, await say(gateway, 'Are you there?'));
  const { page, problems } = await studio.open('/');
  // The first visit starts in a space, all others at home.
  await page.getByRole('log').waitFor();
  await page.getByRole('alert').getByText('Concierge failed.').waitFor();
  await page.reload();
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).waitFor();
  await page.getByRole('link', { name: 'Home' }).click();
  const section = page.getByRole('region', { name: 'Failed', exact: true });
  await section.getByText('failed: The model is away.').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await section.getByRole('link', { name: /Are you there\?/ }).click();
  await page.waitForURL(`**/runs/${failed}`);
  const why = page.getByRole('region', { name: 'Why it failed' });
  await why.getByText('The model is away.').waitFor();
  await why.getByText('The request of step 1').click();
  await why.getByText('Are you there?').first().waitFor();
  await why.getByRole('button', { name: 'Try again' }).click();
  await timelineOf(page).getByText('I am back.').waitFor();
  await page.getByText('completed: the agent had no more to do').first().waitFor();
  await page.getByRole('link', { name: 'Home' }).click();
  await page.getByText('Nothing failed in the last 24 hours').waitFor();
  expect(problems).toEqual([]);
});

test('[S22] [S24] a waiting task is shown at home and on its page, continues there after the answer, and the figures are the API’s', async () => {
  const { gateway } = studio;
  const id = await runOf(gateway, await say(gateway, 'Pay the Grand.'));
  expect((await storyOf(id)).status).toBe('waiting');
  const { page, problems } = await studio.open('/');
  await page.getByRole('log').waitFor();
  await page.goto(gateway.url);
  const waiting = page.getByRole('region', { name: 'Waiting for you' });
  await waiting.getByRole('link', { name: /Grand/ }).waitFor();
  await waiting.getByRole('link', { name: /Grand/ }).click();
  await page.waitForURL(`**/runs/${id}?call=*`);
  await page.getByText('waits for an answer').first().waitFor();
  await timelineOf(page)
    .getByText(/^pay_invoice waits for approval/)
    .waitFor();
  await page.goto(`${gateway.url}/runs?status=waiting`);
  const listed = page.getByRole('list', { name: 'Runs' }).getByRole('link');
  await listed.getByText('waits for an answer').waitFor();
  expect(await listed.count()).toBe(1);
  await listed.click();
  await answer(gateway, 'pay_invoice', { approve: true });
  await timelineOf(page)
    .getByRole('link', { name: /ok pay_invoice/ })
    .waitFor();
  await timelineOf(page).getByText('The Grand is paid.').waitFor();
  await page.getByText('completed: the agent had no more to do').first().waitFor();

  await page.getByRole('link', { name: 'Home' }).click();
  const [today]: Home['days'] = (await gateway.api('/api/home')).days;
  const { items } = await gateway.api('/api/runs?limit=200');
  const [used] = (await gateway.api('/api/usage?by=day')).items;
  expect(today).toMatchObject({ runs: items.length, cost: used.cost, requests: used.requests });
  const figure = (name: string) => page.getByRole('figure', { name, exact: true });
  await figure('Runs').getByText(String(items.length), { exact: true }).first().waitFor();
  const table = figure('Cost').getByRole('table', { name: 'Cost by day' });
  expect(await table.getByRole('row').count()).toBe(8);
  const shown = await table.getByRole('row').first().textContent();
  expect(shown).toContain(today?.day);
  expect(Number.parseFloat(shown?.slice(today?.day.length).replace('~', '') ?? '')).toBeCloseTo(used.cost, 4);
  expect(await figure('Cost').locator('svg title').last().textContent()).toBe(`${today?.day}: ${shown?.slice(10)}`);
  expect(problems).toEqual([]);
});
