import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { startStudio } from '../support/studio.ts';
import { fill, multiply, slowTeller } from './crowd.ts';

const browser = useBrowser();
const people = [{ name: 'Ada', externalId: 'ada' }];
const agents = [{ name: 'Teller', instructions: 'Tell.' }];

/** Waits until the list has not moved for some time, and no row was measured again. */
async function atRest(scroller: Locator): Promise<void> {
  await scroller.evaluate(
    (one) =>
      new Promise<void>((resolve) => {
        let last = '';
        let still = 0;
        const look = (): void => {
          const place = `${one.scrollTop} ${one.scrollHeight}`;
          still = place === last ? still + 1 : 0;
          last = place;
          if (still === 20) resolve();
          else requestAnimationFrame(look);
        };
        look();
      }),
  );
}

test('[S8] [S9] five thousand messages: earlier ones load without a jump, and streamed text moves nothing and costs little', async () => {
  const words = Array.from({ length: 240 }, (_, index) => `word${index}`).join(' ');
  const model = slowTeller({ words, everyMs: 10 });
  await using studio = await startStudio(browser(), { model, agents, spaces: [{ name: 'Hall', people }] });
  const spaceId = await fill(studio.gateway, ['Message 1, with **some** text of its own.']);
  await multiply(studio.gateway, 5_000);
  const { page, problems } = await studio.open(`/spaces/${spaceId}`);
  const log = page.getByRole('log', { name: 'Messages' });
  await log.getByRole('article').first().waitFor();
  /** The position of a message on the screen. */
  const topOf = (seq: number): Promise<number | undefined> =>
    log.evaluate((one, wanted) => one.querySelector(`[data-seq="${wanted}"]`)?.getBoundingClientRect().top, seq);
  const seqs = (): Promise<number[]> =>
    log.getByRole('article').evaluateAll((all) => all.map((one) => Number((one as HTMLElement).dataset.seq)));
  expect((await seqs()).at(-1)).toBe(5_000);

  // Earlier messages are inserted above the visible ones, which do not move.
  await log.focus();
  await atRest(log);
  await page.keyboard.press('PageUp');
  await page.getByRole('button', { name: 'To the end' }).waitFor();
  const belowSight = () => log.evaluate((one) => one.scrollHeight - one.clientHeight - one.scrollTop);
  await expect.poll(belowSight).toBeGreaterThan(100);
  await atRest(log);
  expect((await seqs()).length).toBeGreaterThan(10);
  const inSight = (await seqs()).at(-8) ?? 0;
  const before = await topOf(inSight);
  await page.getByRole('button', { name: 'Earlier messages' }).evaluate((button) => (button as HTMLElement).click());
  await expect.poll(() => log.evaluate((one) => one.scrollHeight)).toBeGreaterThan(5_000);
  await expect.poll(() => topOf(inSight)).toBeCloseTo(before ?? 0, 0);

  // Scrolls to the first message; only visible rows are drawn.
  await expect
    .poll(
      async () => {
        await page.keyboard.press('Home');
        return await log.getByText('The start of this space').count();
      },
      { timeout: 60_000 },
    )
    .toBe(1);
  await page.keyboard.press('Home');
  await expect.poll(async () => (await seqs())[0]).toBe(1);
  expect((await seqs()).length).toBeLessThan(60);
  await page.getByRole('button', { name: 'To the end' }).click();
  await expect.poll(async () => (await seqs()).at(-1)).toBe(5_000);

  // An agent joins and streams a long message, letter by letter.
  const [{ entityId }] = (await studio.gateway.api('/api/agents')).items;
  await studio.gateway.api(`/api/spaces/${spaceId}/members`, { entityId });
  await page.getByRole('button', { name: '2 members' }).waitFor();
  const cdp = await page.context().newCDPSession(page);
  // Processor time instead of wall time, so that a busy machine does not matter.
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  const spent = async (): Promise<number> => {
    const { metrics } = await cdp.send('Performance.getMetrics');
    return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
  };
  await page.evaluate(() => {
    const seen = { shift: 0, frames: [] as number[] };
    Object.assign(globalThis, { seen });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) seen.shift += (entry as PerformanceEntry & { value: number }).value;
    }).observe({ type: 'layout-shift' });
    let last = performance.now();
    const count = (now: number): void => {
      seen.frames.push(now - last);
      last = now;
      requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
  });
  const spentBefore = await spent();
  const field = page.getByRole('textbox', { name: /^Write to/ });
  await field.fill('Tell me.');
  await field.press('Enter');
  await log.getByText('word239', { exact: false }).waitFor({ timeout: 60_000 });
  const { shift, frames } = await page.evaluate(
    () => (globalThis as unknown as { seen: { shift: number; frames: number[] } }).seen,
  );
  const cpu = ((await spent()) - spentBefore) / frames.length;
  expect(cpu).toBeLessThan(17);
  expect(shift).toBeLessThan(0.01);
  expect(await log.getByText('word239').count()).toBe(1);

  // A link to one message opens there.
  await page.goto(`${studio.gateway.url}/spaces/${spaceId}?at=4711`);
  await expect.poll(async () => await seqs(), { timeout: 60_000 }).toContain(4_711);
  expect(problems).toEqual([]);
});

test('[S8] hostile text is shown as text: without elements, scripts or hidden directions, and the page stays usable', async () => {
  await using studio = await startStudio(browser(), { spaces: [{ name: 'Hall', people }] });
  const hostile = [
    '<img src=x onerror="globalThis.pwned=1"><script>globalThis.pwned=1</script>',
    '[click](javascript:globalThis.pwned=1) ![pixel](https://evil.example/pixel.png)',
    'Approve? \u202eyned\u202c \u2066hidden\u2069',
    `${'> '.repeat(5_000)}deep`,
    '[['.repeat(20_000),
    'x'.repeat(500_000),
    `${'| a '.repeat(300)}\n${'|---'.repeat(300)}\n${'| b '.repeat(300)}`,
  ];
  const spaceId = await fill(studio.gateway, hostile);
  const { page, problems } = await studio.open(`/spaces/${spaceId}`, { width: 380, height: 760 });
  const log = page.getByRole('log', { name: 'Messages' });
  await log.getByRole('article').first().waitFor();
  await log.focus();
  await page.keyboard.press('Home');
  await log.getByText('onerror=').waitFor();
  await log.getByText('[U+202E]yned[U+202C]').waitFor();
  await log.getByRole('link', { name: 'pixel' }).waitFor();
  expect(await log.locator('img, script, iframe').count()).toBe(0);
  expect(await page.evaluate(() => 'pwned' in globalThis)).toBe(false);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(380);
  await page.keyboard.press('End');
  const field = page.getByRole('textbox', { name: /^Write to/ });
  await field.fill('Still here.');
  await field.press('Enter');
  await log.getByText('Still here.').waitFor();
  expect(problems).toEqual([]);
});

test('[S9] seven tabs of one browser all work: those in the background close their connections', async () => {
  await using studio = await startStudio(browser(), { spaces: [{ name: 'Hall', people }] });
  const spaceId = await fill(studio.gateway, ['First.']);
  const { page: first, problems } = await studio.open(`/spaces/${spaceId}`, { isNew: true });
  const context = first.context();
  // In a headless browser all tabs count as visible, so the test sets `hidden` itself.
  await context.addInitScript(() => {
    let isHidden = false;
    Object.defineProperty(document, 'hidden', { get: () => isHidden });
    Object.assign(globalThis, {
      hide(next: boolean) {
        isHidden = next;
        document.dispatchEvent(new Event('visibilitychange'));
      },
    });
  });
  const hide = (page: typeof first, isHidden: boolean): Promise<void> =>
    page.evaluate((next) => (globalThis as unknown as { hide(next: boolean): void }).hide(next), isHidden);
  await first.reload();
  const tabs = [first];
  for (let count = 1; count < 7; count++) {
    await hide(tabs.at(-1) ?? first, true);
    const tab = await context.newPage();
    await tab.goto(`${studio.gateway.url}/spaces/${spaceId}`);
    await tab.getByRole('log', { name: 'Messages' }).getByText('First.').waitFor();
    tabs.push(tab);
  }
  const last = tabs.at(-1) ?? first;
  const field = last.getByRole('textbox', { name: /^Write to/ });
  await field.fill('From the seventh.');
  await field.press('Enter');
  await last.getByRole('log').getByText('From the seventh.').waitFor();
  // Each tab is up to date as soon as it is shown.
  for (const tab of tabs) {
    await hide(tab, false);
    await tab.getByRole('log').getByText('From the seventh.').waitFor();
    await hide(tab, true);
  }
  expect(problems).toEqual([]);
});
