import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { calls, deskOptions, runOf, say } from './run/desk.ts';
import { fill } from './space/crowd.ts';
import { useBrowser } from './support/browser.ts';
import { goTo } from './support/go-to.ts';
import { type Studio, startStudio } from './support/studio.ts';

const browser = useBrowser();

let studio: Studio;
const runs: string[] = [];
let agentId: string;

beforeAll(async () => {
  const replies = [calls(['fetch_weather', { city: 'Tokyo' }]), 'It is clear.'];
  studio = await startStudio(browser(), deskOptions([...replies, ...replies]));
  for (const text of ['How is the weather in Tokyo?', 'And now?'])
    runs.push(await runOf(studio.gateway, await say(studio.gateway, text)));
  const { items } = await studio.gateway.api('/api/agents');
  agentId = items.find(({ name }: { name: string }) => name === 'Concierge').id;
});
afterAll(async () => await studio?.[Symbol.asyncDispose]());

/** Parts of the page that are wider than they may be, and can only be read by scrolling to the side. */
async function tooWide(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const scrollers = [...document.querySelectorAll<HTMLElement>('html, main *')].filter(
      (one) => one.tagName === 'HTML' || getComputedStyle(one).overflowY === 'auto',
    );
    return scrollers.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.className);
  });
}

const title = '[S8] a tablet that stands upright shows whole names, and nothing is wider than the screen, $width wide';

test.each([{ width: 768 }, { width: 900 }])(title, async ({ width }) => {
  const { page, problems } = await studio.open('/agents', { width, height: 1_000 });
  await page.getByRole('link', { name: 'Concierge', exact: true }).waitFor();
  // The bar of a phone has no room for it.
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Usage' }).waitFor();
  const called = page.getByRole('list', { name: 'Calls of both runs' }).getByText('fetch_weather', { exact: true });
  const send = page.getByRole('button', { name: /^Send/ });
  const pages: readonly [path: string, content: Locator][] = [
    [`/runs/${runs[0]}/compare/${runs[1]}`, called],
    ['/tools', page.getByRole('list', { name: 'Tools' }).getByText('fetch_weather')],
    [`/runs/${runs[0]}`, page.getByText('fetch_weather').first()],
    ['/', page.getByRole('figure', { name: 'Tokens' }).or(page.getByRole('figure', { name: 'Cost' }))],
    [`/agents/${agentId}?tab=workbench&pane=chat`, send],
  ];
  await page.evaluate(() => localStorage.setItem('lastcall.last-space', 'any'));
  for (const [path, content] of pages) {
    await goTo(page, path);
    await content.waitFor();
    expect(await tooWide(page), path).toEqual([]);
    if (content === called) expect((await called.boundingBox())?.width).toBeGreaterThan(80);
  }
  const { x, width: sendWidth } = (await send.boundingBox()) ?? { x: width, width };
  expect(x + sendWidth).toBeLessThanOrEqual(width);
  expect(problems).toEqual([]);
});

test('[S8] the bar that saves a configuration ends where the page ends, so that no text shows below it', async () => {
  for (const width of [390, 1_280]) {
    const { page } = await studio.open(`/agents/${agentId}?tab=config`, { width, height: 500 });
    const bar = page.getByRole('button', { name: 'Review and save v2' }).locator('..');
    await bar.waitFor();
    const gap = () =>
      bar.evaluate((one) => {
        const page = one.closest('.overflow-y-auto')?.getBoundingClientRect();
        return Math.round((page?.bottom ?? 0) - one.getBoundingClientRect().bottom);
      });
    await expect.poll(gap).toBeLessThanOrEqual(0);
  }
});

test('[S8] on a phone, a count of 100 new messages and the ids of people are shown whole', async () => {
  const people = [{ name: 'Ada', externalId: 'ada' }, { name: 'Ben', externalId: 'ben' }, { name: 'x'.repeat(200) }];
  await using desk = await startStudio(browser(), { spaces: [{ name: 'Desk', people }] });
  await fill(
    desk.gateway,
    Array.from({ length: 100 }, (_, index) => `Message ${index}`),
  );
  const { page, problems } = await desk.open('/runs', { as: 'Ben', width: 390, height: 800 });
  const count = page.getByRole('navigation', { name: 'Pages' }).getByText('99+');
  await count.waitFor();
  await page.getByRole('link', { name: 'Runs', exact: true }).and(page.locator('[aria-current=page]')).waitFor();
  const isOnTop = (): Promise<boolean> =>
    count.evaluate((one) => {
      const { right, top, height } = one.getBoundingClientRect();
      return one.contains(document.elementFromPoint(right - 4, top + height / 2));
    });
  expect(await isOnTop()).toBe(true);
  await goTo(page, '/settings?tab=people');
  const id = page.getByText('ben', { exact: true });
  await id.waitFor();
  expect(await id.evaluate((one) => one.scrollWidth - one.clientWidth)).toBeLessThanOrEqual(0);
  // The tabs may be scrolled.
  expect((await tooWide(page)).filter((name) => !name.includes('overflow-x-auto'))).toEqual([]);
  expect(problems).toEqual([]);
});
