import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ScriptedReply } from '@lastcall/core/testing';
import { startTestGateway, type TestGateway, waitFor } from '@lastcall/gateway/testing';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { forAllTests } from '../../../gateway/test/support/for-all-tests.ts';
import { onPostgres } from '../../../gateway/test/support/stores.ts';
import { accessibilityProblems, colourProblems } from '../support/accessibility.ts';
import { useBrowser } from '../support/browser.ts';
import { type Studio, startStudio } from '../support/studio.ts';
import { answer, calls, deskOptions, enter, gate, HOSTILE, runOf, say } from './desk.ts';

const browser = useBrowser();

let studio: Studio;
let home: string;
/** On PostgreSQL, because the timeline is made of its rows; the lists of runs are tested on SQLite. */
const database = forAllTests(onPostgres.create);
/** The gateway's default for agents without a limit. Only one of these runs takes more steps. */
const MAX_STEPS = 6;
/** The ids of the runs by subject. */
const runs = { taken: '', lost: '', first: '', confirmed: '', paid: '', report: '', scout: '', inherited: '' };

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'lastcall-runs-'));
  const events = await beginAndStop();
  studio = await startStudio(
    browser(),
    deskOptions(
      [
        // The scout may make only one request, and did.
        'It is recorded.',
        enter,
        {
          text: 'Let me look around.',
          ...(calls(
            ['fetch_weather', { city: 'Tokyo' }],
            ['book_seats', { row: 12 }],
            ['fetch_weather', { city: 'Kyoto' }],
          ) as object),
        },
        calls(['read_review', { hotel: 'Inn' }], ['confirm_booking', { question: 'Book the Inn?' }]),
        calls(['pay_invoice', { amount: 120, to: 'Inn' }]),
        'I have asked.',
        'It is confirmed.',
        'It is paid.',
        calls(['file_report', { title: 'Tokyo' }], ['fetch_weather', { city: 'Osaka' }]),
        calls(
          ['slow_weather', { city: 'Rome' }],
          ['slow_weather', { city: 'Oslo' }],
          ['slow_weather', { city: 'Lima' }],
        ),
        ...Array.from({ length: MAX_STEPS }, () => calls(['fetch_weather', { city: 'Oslo' }])),
      ],
      { home, databaseUrl: database.location, limits: { agent: { maxSteps: MAX_STEPS } } },
    ),
  );
  const { gateway } = studio;
  runs.taken = await runOf(gateway, events.taken);
  runs.lost = await runOf(gateway, events.lost);
  runs.first = await runOf(gateway, await say(gateway, 'Book a hotel in Tokyo, please.'));
  runs.confirmed = await answer(gateway, 'confirm_booking', { result: true });
  runs.paid = await answer(gateway, 'pay_invoice', { approve: true, input: { amount: 100, to: 'Inn' } });
  runs.report = await runOf(gateway, await say(gateway, 'File the report.'));
  runs.scout = await runOf(gateway, await say(gateway, 'Look around.', 'Lookout'));
  const { agentId } = await gateway.api(`/api/runs/${runs.scout}`);
  await gateway.api(`/api/agents/${agentId}`, { limits: null }, { method: 'PATCH' });
  runs.inherited = await runOf(gateway, await say(gateway, 'Look on.', 'Lookout'));
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
  await using gateway = await startTestGateway(
    deskOptions([reply, reply], { home, databaseUrl: database.location, leaseMs: 1_000 }),
  );
  const taken = await say(gateway, 'Record my trip.');
  const lost = await say(gateway, 'Send a fax.', 'Lookout');
  for (const eventId of [taken, lost]) await untilStarted(gateway, await runOf(gateway, eventId, ['running']));
  gate.current = Promise.resolve();
  return { taken, lost };
}

async function untilStarted({ api }: TestGateway, runId: string): Promise<void> {
  await waitFor(async () => {
    const { items } = await api(`/api/runs/${runId}/transcript`);
    return items.some(({ kind }: { kind: string }) => kind === 'started');
  });
}

const timelineOf = (page: Page): Locator => page.getByRole('region', { name: 'Timeline' });

/** The steps and calls of the timeline, each as one line, without how long they took. */
async function rowsOf(page: Page): Promise<readonly string[]> {
  const texts = await timelineOf(page).getByRole('link').allInnerTexts();
  return texts.map((text) =>
    text
      .split(/\s+/)
      .join(' ')
      .replace(/( ,)? \d+(\.\d+)? m?s$/, ''),
  );
}

test('[S5] a run page shows every call in call order: outcome, reason, rollback, answerer, and why the run ended', async () => {
  const { page, problems } = await studio.open(`/runs/${runs.first}`);
  await page.getByRole('heading', { name: 'Book a hotel in Tokyo, please.' }).waitFor();
  await page.getByText('completed: the agent had no more to do').first().waitFor();
  await page.getByText('Ada asked Concierge').waitFor();
  await page.getByText('run 2, 1 of 3 of this task').waitFor();
  const { gatewayId } = await studio.gateway.api('/api/status');
  await page
    .getByTitle(gatewayId, { exact: true })
    .getByText(/^worker \S+:\d+$/)
    .waitFor();
  await timelineOf(page)
    .getByText(/^Ada answered confirm_booking after /)
    .waitFor();
  await timelineOf(page)
    .getByText(/^Ada approved pay_invoice with changes after /)
    .waitFor();
  await expect
    .poll(() => rowsOf(page))
    .toEqual([
      'Step 1 model 15 tok',
      expect.stringMatching(/^1 ok enter_space 1 change spaceId:/),
      'Step 2 model Let me look around. 15 tok',
      '1 ok fetch_weather city: Tokyo',
      '2 error execution book_seats 2 undone Row 12 is sold out.',
      '3 cancelled fetch_weather "book_seats" (2.2) failed: Row 12 is sold out. never ran',
      'Step 3 model 15 tok',
      '1 ok read_review hotel: Inn',
      '2 ok confirm_booking question: Book the Inn?',
      'Step 4 model 15 tok',
      '1 ok pay_invoice amount: 120, to: Inn',
      'Step 5 model I have asked. 15 tok',
      expect.stringMatching(/^Run 3 /),
      'Step 1 model It is confirmed. 15 tok',
      expect.stringMatching(/^Run 4 /),
      'Step 1 model It is paid. 15 tok',
    ]);

  await timelineOf(page)
    .getByRole('link', { name: /error execution/ })
    .click();
  const panel = page.getByRole('region', { name: 'Call book_seats' });
  await panel.getByText('Row 12 is sold out.', { exact: true }).first().waitFor();
  await panel.getByRole('link', { name: 'Changes: 2 undone' }).click();
  expect(await panel.getByRole('region', { name: 'Committed' }).textContent()).toContain('Nothing was committed.');
  expect(await panel.locator('del').first().textContent()).toBe('event seat.held × 2');
  await panel.getByRole('link', { name: 'Receipt' }).click();
  const callId = new URL(page.url()).searchParams.get('call') ?? '';
  await expect.poll(() => panel.getByText(callId).count()).toBe(2);
  await panel.getByText(/^once, /).waitFor();

  // The link to share leads to the same call, and back does not lead into it again.
  await page.goto(`${studio.gateway.url}/calls/${callId}`);
  await page.waitForURL(`**/runs/${runs.first}?call=${callId}`);
  await page.getByRole('region', { name: 'Call book_seats' }).waitFor();
  expect(problems).toEqual([]);
});

test('[S5] filters and the search are in the address, and a link to them shows the same', async () => {
  const { page, problems } = await studio.open(`/runs/${runs.first}`);
  await page.getByRole('link', { name: 'Errors 1' }).click();
  await expect.poll(() => rowsOf(page)).toHaveLength(2);
  await page.getByRole('link', { name: 'Never ran 1' }).click();
  await expect
    .poll(() => rowsOf(page))
    .toEqual([expect.stringContaining('Step 2'), expect.stringContaining('3 cancelled')]);
  await page.reload();
  await expect.poll(() => rowsOf(page)).toHaveLength(2);
  expect(page.url()).toContain('only=never-ran');
  await page.getByRole('link', { name: 'All', exact: true }).click();
  await page.getByRole('searchbox', { name: 'Search the calls' }).fill('kyoto');
  await expect
    .poll(() => rowsOf(page))
    .toEqual([expect.stringContaining('Step 2'), expect.stringContaining('3 cancelled')]);
  await expect.poll(() => page.url()).toContain('q=kyoto');
  await page.getByRole('searchbox', { name: 'Search the calls' }).fill('nothing like that');
  await page.getByText('No call of this run matches.').waitFor();
  expect(problems).toEqual([]);
});

test('[S5] the output of a tool is shown as text, whatever it contains', async () => {
  const { page, problems } = await studio.open(`/runs/${runs.first}`);
  await timelineOf(page)
    .getByRole('link', { name: /read_review/ })
    .click();
  const panel = page.getByRole('region', { name: 'Call read_review' });
  await panel.getByText(HOSTILE.replace('\u202E', '[U+202E]')).waitFor();
  expect(await page.locator('main img').count()).toBe(0);
  expect(await panel.locator('a[href^="javascript:"]').count()).toBe(0);
  expect(await page.title()).toBe('Book a hotel in Tokyo, please., Concierge · Lastcall');
  expect(problems).toEqual([]);
});

test('[S5] an approval with changes shows the requested input, the approved one and the one that ran', async () => {
  const { page, problems } = await studio.open(`/runs/${runs.paid}`);
  await timelineOf(page)
    .getByRole('link', { name: /pay_invoice/ })
    .click();
  const panel = page.getByRole('region', { name: 'Call pay_invoice' });
  await panel.getByRole('link', { name: 'Input' }).click();
  const column = (name: string): Locator => panel.getByRole('region', { name, exact: true });
  await column('Asked').getByText('120').waitFor();
  expect(await column('Approved').textContent()).toContain('"amount": 100');
  expect(await column('Ran').textContent()).toContain('"amount": 100');
  await panel.getByRole('link', { name: 'Receipt' }).click();
  await panel.getByText(/^Ada approved with changes after/).waitFor();
  expect(problems).toEqual([]);
});

test('[S5] the tool that ended the turn has the response, the call after it never ran, and a limit says where it is set', async () => {
  const { page, problems } = await studio.open(`/runs/${runs.report}`);
  await page.getByText('completed: file_report gave the response').first().waitFor();
  await page.getByText('cost 0.00002').waitFor();
  await expect
    .poll(() => rowsOf(page))
    .toEqual([
      'Step 1 model 15 tok',
      expect.stringMatching(/^1 ok file_report RESPONSE title: Tokyo/),
      '2 skipped fetch_weather "file_report" had already ended the turn never ran',
    ]);
  await page.goto(`${studio.gateway.url}/runs/${runs.scout}`);
  await page.getByText('stopped: it used all its 1 step').first().waitFor();
  await page.getByRole('link', { name: 'limits.maxSteps' }).waitFor();
  await page.getByRole('banner').or(page.locator('header')).getByText('It is set to 1').waitFor();
  await expect.poll(async () => (await rowsOf(page)).filter((row) => row.startsWith('in parallel'))).toHaveLength(3);
  // The agent has no limit any more, so the gateway's applies, and the sentence names it.
  await page.goto(`${studio.gateway.url}/runs/${runs.inherited}`);
  await page.getByText(`stopped: it used all its ${MAX_STEPS} steps`).first().waitFor();
  await page.getByText(`The gateway’s default of ${MAX_STEPS} counts; set limits.maxSteps of Scout.`).waitFor();
  expect(problems).toEqual([]);
});

test('[S5] a run that another worker continued has a line at the takeover', async () => {
  const { page, problems } = await studio.open(`/runs/${runs.taken}`);
  await timelineOf(page)
    .getByText(/ silent .*, .* took over, 1 call repeated$/)
    .waitFor();
  await timelineOf(page).getByText('2 attempts, one key, done once').waitFor();
  expect(problems).toEqual([]);
});

test('[S5] a call without a recorded end is shown as unknown, with the idempotency key to look it up', async () => {
  const { page, problems } = await studio.open(`/runs/${runs.lost}`);
  await timelineOf(page)
    .getByRole('link', { name: /unknown outcome send_fax/ })
    .click();
  const panel = page.getByRole('region', { name: 'Call send_fax' });
  await panel.getByText('Unknown outcome', { exact: true }).waitFor();
  const callId = new URL(page.url()).searchParams.get('call') ?? '';
  await panel.getByText(callId).waitFor();
  await timelineOf(page)
    .getByText(/took over, 0 calls repeated$/)
    .waitFor();
  // The gateway waits ten seconds for what runs when it is stopped.
  await timelineOf(page)
    .getByText(/^\d+ s idle$/)
    .waitFor();
  await page.getByRole('checkbox', { name: 'fold idle' }).uncheck();
  await expect.poll(() => timelineOf(page).getByText('idle').count()).toBe(0);
  expect(problems).toEqual([]);
});

test('[S5] the request of a step is shown as it was sent, with what is new in it marked', async () => {
  const { page, problems } = await studio.open(`/runs/${runs.first}?view=seen`);
  await page.getByRole('link', { name: 'Step 3' }).click();
  await page.getByText(/messages, \d+ tools, 2 new since step 2$/).waitFor();
  await page.getByText('Instructions', { exact: true }).click();
  await page.getByText(/You book travels\./).waitFor();
  const messages = page.getByRole('list', { name: 'Messages' }).getByRole('listitem');
  await expect
    .poll(() => messages.filter({ hasText: 'new' }).allInnerTexts())
    .toEqual([expect.stringContaining('Let me look around.'), expect.stringContaining('Cancelled: "book_seats"')]);
  expect(problems).toEqual([]);
});

test('[S6] a finished run is stepped through by buttons, arrow keys and a slider', async () => {
  const { page, problems } = await studio.open(`/runs/${runs.first}`);
  await page.getByRole('button', { name: 'Replay' }).click();
  const status = page.getByRole('region', { name: 'Replay' }).getByRole('status');
  await status.getByText(/^1 of \d+: Something arrived/).waitFor();
  await expect.poll(() => rowsOf(page)).toEqual([]);
  await page.getByRole('button', { name: 'Next moment' }).click();
  await status.getByText(/^2 of \d+: Step 1: the model was asked/).waitFor();
  await page.getByRole('heading', { level: 1 }).click();
  for (const words of ['the model had answered', 'enter_space started']) {
    await page.keyboard.press('ArrowRight');
    await status.getByText(words).waitFor();
  }
  await expect
    .poll(() => rowsOf(page))
    .toEqual(['Step 1 model 15 tok', expect.stringMatching(/^1 running enter_space/)]);
  await page.keyboard.press('ArrowRight');
  await status.getByText('enter_space ended: ok').waitFor();
  await expect.poll(() => page.url()).toContain('moment=5');
  await page.getByRole('slider', { name: 'Moment' }).press('End');
  await status.getByText('The run ended').waitFor();
  await expect.poll(() => rowsOf(page)).toHaveLength(16);
  await page.getByRole('button', { name: 'End the replay' }).click();
  await expect.poll(() => page.url()).not.toContain('moment');
  expect(problems).toEqual([]);
});

test('[S5] two runs are chosen from a list and compared call by call', async () => {
  const { page, problems } = await studio.open(`/runs/${runs.report}`);
  await page.getByRole('button', { name: 'Compare with …' }).click();
  const picker = page.getByRole('dialog', { name: 'Compare with which run?' });
  const choices = picker.getByRole('list', { name: 'Runs to compare with' }).getByRole('link');
  await choices.filter({ hasText: 'Book a hotel' }).first().waitFor();
  expect(await choices.filter({ hasText: 'Look around.' }).count()).toBe(0);
  await picker.getByRole('checkbox', { name: 'also runs of other agents' }).check();
  await choices.filter({ hasText: 'Scout, run' }).first().waitFor();
  await choices.filter({ hasText: 'Ada: Book a hotel' }).click();
  await page.waitForURL(`**/runs/${runs.first}/compare/${runs.report}`);
  await page.getByText('0 calls are the same, 1 changed, 6 only left, 1 only right').waitFor();
  const list = page.getByRole('list', { name: 'Calls of both runs' });
  await list.getByText('changed: input, outcome, output').click();
  const input = list.getByRole('region', { name: 'Input, left and right' });
  await input.getByText('Osaka').waitFor();
  expect(await input.locator('ins').textContent()).toContain('"city": "Osaka"');
  await page.getByRole('checkbox', { name: 'only what differs' }).check();
  await expect.poll(() => list.getByRole('listitem').count()).toBe(8);
  expect(problems).toEqual([]);
});

test('[S8] a run is read with the keyboard alone', async () => {
  const { page, problems } = await studio.open(`/runs/${runs.first}`);
  await timelineOf(page).getByRole('link').first().waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('weather');
  await expect.poll(() => rowsOf(page)).toHaveLength(3);
  await page.keyboard.press('Enter');
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Call fetch_weather' }).getByText('step 2, call 1').waitFor();
  await page.keyboard.press('j');
  await page.getByRole('region', { name: 'Call fetch_weather' }).getByText('step 2, call 3').waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => page.getByRole('region', { name: 'Call fetch_weather' }).count()).toBe(0);
  // Until the next run is there, this one stays.
  const letGo = Promise.withResolvers<void>();
  await page.route(`**/api/runs/${runs.confirmed}`, async (route) => {
    await letGo.promise;
    await route.continue();
  });
  await page.keyboard.press(']');
  await page.waitForURL(`**/runs/${runs.confirmed}`);
  await expect.poll(() => page.locator('[aria-busy=true][inert]').count()).toBe(1);
  await page.getByText('run 2, 1 of 3 of this task').waitFor();
  letGo.resolve();
  await page.getByText('run 3, 2 of 3 of this task').waitFor();
  await page.keyboard.press('[');
  await page.getByText('run 2, 1 of 3 of this task').waitFor();
  expect(problems).toEqual([]);
});

test('[S8] on a narrow screen a call is a page with a way back, and nothing is wider than the screen', async () => {
  const { page, problems } = await studio.open(`/runs/${runs.first}`, { width: 380, theme: 'dark' });
  await timelineOf(page)
    .getByRole('link', { name: /error execution/ })
    .click();
  await page.getByRole('region', { name: 'Call book_seats' }).waitFor();
  expect(await page.getByRole('heading', { level: 1 }).isVisible()).toBe(false);
  await page.getByRole('link', { name: 'Back to the timeline' }).click();
  await page.getByRole('heading', { level: 1 }).waitFor();
  for (const path of [`/runs/${runs.first}`, '/runs', `/runs/${runs.first}/compare/${runs.report}`]) {
    await page.goto(studio.gateway.url + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(380);
  }
  expect(problems).toEqual([]);
});

test('[S8] the pages of runs have no serious accessibility problem, light and dark', async () => {
  const callId = await callIdOf('book_seats');
  const { page } = await studio.open('/runs');
  const found: string[] = [];
  /** The page follows the theme of the system, which changes while it is open. */
  const look = async (isInDark: boolean): Promise<void> => {
    found.push(...(await accessibilityProblems(page)));
    if (!isInDark) return;
    await page.emulateMedia({ colorScheme: 'dark' });
    found.push(...(await colourProblems(page)));
    await page.emulateMedia({ colorScheme: 'light' });
  };
  await page.getByRole('link', { name: /File the report/ }).waitFor();
  await look(true);
  const called = `/runs/${runs.first}?call=${callId}`;
  for (const path of [called, `/runs/${runs.first}?moment=5`, `/runs/${runs.first}/compare/${runs.report}`]) {
    await page.goto(studio.gateway.url + path);
    await page.getByText('enter_space').first().waitFor();
    await look(path === called);
  }
  expect(found).toEqual([]);
});

async function callIdOf(toolName: string): Promise<string> {
  const { items } = await studio.gateway.api(`/api/runs/${runs.first}/transcript?limit=200`);
  return items.find(
    ({ entry }: { entry: { settlement?: { toolName: string } } }) => entry.settlement?.toolName === toolName,
  ).entry.settlement.callId;
}
