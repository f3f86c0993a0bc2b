import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { startStudio } from '../support/studio.ts';
import { calls, deskOptions, gate, runOf, say } from './desk.ts';

const browser = useBrowser();

// On SQLite it is followed and cancelled in runs-page.test.ts.
test('[S5] on PostgreSQL, too, a run is followed while it goes on, by two people, and cancelled by one of them', async () => {
  const letGo = Promise.withResolvers<void>();
  gate.current = letGo.promise;
  const replies = [calls(['record_trip', {}], ['fetch_weather', { city: 'Tokyo' }])];
  await using studio = await startStudio(browser(), deskOptions(replies), 'postgres');
  const { gateway } = studio;
  const id = await runOf(gateway, await say(gateway, 'Record my trip.'), ['running']);
  const opened = [await studio.open(`/runs/${id}`), await studio.open(`/runs/${id}`, { as: 'Ben' })] as const;
  for (const { page } of opened) {
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByRole('link', { name: /running record_trip/ }).waitFor();
    await timeline.getByRole('link', { name: /not started fetch_weather/ }).waitFor();
    await page.getByText('live', { exact: true }).waitFor();
  }
  const [{ page }] = opened;
  await page.getByRole('button', { name: 'Cancel run' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel it' }).click();
  for (const { page, problems } of opened) {
    await page.getByText('cancelled', { exact: true }).first().waitFor();
    await page
      .getByRole('region', { name: 'Timeline' })
      .getByRole('link', { name: /cancelled fetch_weather/ })
      .waitFor();
    expect(await page.getByRole('button', { name: 'Cancel run' }).count()).toBe(0);
    expect(problems).toEqual([]);
  }
  letGo.resolve();
});
