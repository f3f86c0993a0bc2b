import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { startStudio } from '../support/studio.ts';
import { calls, deskOptions, gate, runOf, say } from './desk.ts';

const browser = useBrowser();

test('[S5] the list of runs has a hint while it is empty, grows without moving the rows that are read, and is filtered by its address', async () => {
  const replies = [
    calls(['fetch_weather', { city: 'Tokyo' }]),
    'It is clear.',
    calls(['book_seats', { row: 12 }]),
    'It is sold out.',
    ...Array.from({ length: 60 }, (_, index) => `Answer ${index}.`),
  ];
  await using studio = await startStudio(browser(), deskOptions(replies));
  const { gateway } = studio;
  const { page, problems } = await studio.open('/runs', { height: 500 });
  await page.getByText('No runs yet.').waitFor();

  await runOf(gateway, await say(gateway, 'How is the weather?'));
  const rows = page.getByRole('list', { name: 'Runs' }).getByRole('listitem').filter({ hasText: 'Concierge, run' });
  await rows.getByText('Ada: How is the weather?').waitFor();
  const [row = ''] = await rows.allInnerTexts();
  expect(row.split(/\s+/).join(' ')).toMatch(/^Ada: How is the weather\? Concierge, run 1 1 ok completed \d.* tok$/);
  await runOf(gateway, await say(gateway, 'Two seats, please.'));
  await rows.getByText('1 error').waitFor();

  await page.getByRole('combobox', { name: 'Call' }).selectOption('Call: error');
  await expect.poll(() => rows.count()).toBe(1);
  expect(page.url()).toContain('outcome=error');
  await page.getByRole('searchbox', { name: 'Tool' }).fill('fetch_weather');
  await page.keyboard.press('Enter');
  await page.getByText('No run matches.').waitFor();
  await page.getByRole('link', { name: 'Show all', exact: true }).click();
  await expect.poll(() => rows.count()).toBe(2);

  // Each in a separate conversation, so that none waits for another.
  const ask = (_: unknown, number: number) =>
    gateway.api('/chat', { agent: 'Concierge', message: `Question ${number}.` });
  await Promise.all(Array.from({ length: 52 }, ask));
  await page.reload();
  await expect.poll(() => rows.count()).toBe(50);
  await page.getByRole('button', { name: 'Show older runs' }).click();
  await expect.poll(() => rows.count()).toBe(54);
  const read = rows.getByText('Question 20.');
  await read.scrollIntoViewIfNeeded();
  const before = await read.boundingBox();
  await runOf(gateway, await say(gateway, 'One more.'));
  await page.getByRole('button', { name: '1 new' }).waitFor();
  expect((await read.boundingBox())?.y).toBe(before?.y);
  await page.getByRole('button', { name: '1 new' }).click();
  await rows.getByText('Ada: One more.').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'One more.', level: 1 }).waitFor();
  expect(problems).toEqual([]);
});

test('[S5] two people follow an active run, and one cancels it: calls that ran and calls that never ran stay in their places', async () => {
  const letGo = Promise.withResolvers<void>();
  gate.current = letGo.promise;
  // The tool ends only when the cancel has reached it; otherwise the run could be completed before.
  gate.onAbort = letGo.resolve;
  const many = Array.from({ length: 40 }, (_, day) => ['fetch_weather', { day }] as const);
  const replies = [calls(...many), calls(['record_trip', {}], ['fetch_weather', { city: 'Tokyo' }])];
  await using studio = await startStudio(browser(), deskOptions(replies));
  const { gateway } = studio;
  const id = await runOf(gateway, await say(gateway, 'Record my trip.'), ['running']);
  const opened = [await studio.open(`/runs/${id}`), await studio.open(`/runs/${id}`, { as: 'Ben' })] as const;
  for (const { page } of opened) {
    const timeline = page.getByRole('region', { name: 'Timeline' });
    // The newest rows are in view: rows out of view do not exist.
    await timeline.getByRole('link', { name: /running record_trip/ }).waitFor();
    await timeline.getByRole('link', { name: /not started fetch_weather/ }).waitFor();
    await page.getByText('is running', { exact: true }).waitFor();
    await page.getByText('live', { exact: true }).waitFor();
  }
  const [{ page: first }] = opened;
  await first.getByRole('button', { name: 'Cancel run' }).click();
  await first.getByRole('dialog').getByRole('button', { name: 'Cancel it' }).click();
  for (const { page, problems } of opened) {
    await page.getByText('cancelled', { exact: true }).first().waitFor();
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByRole('link', { name: /cancelled fetch_weather/ }).waitFor();
    expect(await page.getByRole('button', { name: 'Cancel run' }).count()).toBe(0);
    expect(problems).toEqual([]);
  }
});

test('[S5] the attempts of an event are linked, and each can be compared with the previous one', async () => {
  const away = new Error('The model is away.');
  const replies = [
    calls(['fetch_weather', { city: 'Tokyo' }]),
    away,
    calls(['fetch_weather', { city: 'Kyoto' }]),
    'It is clear.',
  ];
  const options = deskOptions(replies);
  await using studio = await startStudio(browser(), options);
  const { gateway } = studio;
  const id = await runOf(gateway, await say(gateway, 'How is the weather?'), ['completed']);
  const { page, problems } = await studio.open(`/runs/${id}`);
  await page.getByRole('heading', { name: 'How is the weather?', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'Attempt 1', exact: true }).click();
  await page
    .getByText(/^failed: .*The model is away\./)
    .first()
    .waitFor();
  await page.getByRole('link', { name: 'Attempt 2', exact: true }).click();
  await page.getByRole('link', { name: 'Compare with attempt 1' }).click();
  await page.getByText('0 calls are the same, 1 changed, 0 only left, 0 only right').waitFor();
  expect(problems).toEqual([]);
});

test('[S5] a run that waits behind another says so, and is followed from its beginning', async () => {
  const letGo = Promise.withResolvers<void>();
  gate.current = letGo.promise;
  const replies = [calls(['record_trip', {}]), 'Recorded.', 'You are welcome.'];
  await using studio = await startStudio(browser(), deskOptions(replies));
  const { api } = studio.gateway;
  const { id: context_id } = await api('/contexts', { agent: 'Concierge' });
  const first = api('/chat', { context_id, message: 'Record my trip.' });
  await waitFor(async () => (await api('/api/runs?status=running')).items.length === 1);
  const second = api('/chat', { context_id, message: 'Thank you.' });
  // The caller gets the run id only with the response, so it is read from the database.
  using database = new DatabaseSync(join(studio.gateway.home, 'lastcall.db'), { readOnly: true });
  const waiting = database.prepare("select run_id from inbox_events where type = 'chat' and status = 'pending'");
  const runId = await waitFor(() => waiting.get()?.run_id as string | undefined);
  const { page, problems } = await studio.open(`/runs/${runId}`);
  await page.getByText('waits for the request before it').waitFor();
  letGo.resolve();
  await page.getByText('completed: the agent had no more to do').first().waitFor();
  await page.getByRole('region', { name: 'Timeline' }).getByText('You are welcome.').waitFor();
  await Promise.all([first, second]);
  expect(problems).toEqual([]);
});
