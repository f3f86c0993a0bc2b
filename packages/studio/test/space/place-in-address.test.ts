import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { goTo } from '../support/go-to.ts';
import { startStudio } from '../support/studio.ts';
import { fill, multiply } from './crowd.ts';

const browser = useBrowser();
const spaces = [{ name: 'Hall', people: [{ name: 'Ada', externalId: 'ada' }] }];

test('[S2] an address shows its message also when the user goes back to it, the newest ones if there is no such message, and why it cannot be loaded', async () => {
  await using studio = await startStudio(browser(), { spaces });
  const spaceId = await fill(studio.gateway, ['Message 1.']);
  await multiply(studio.gateway, 600);
  const path = `/spaces/${spaceId}`;
  const { page } = await studio.open(`${path}?at=300`);
  const marked = page.locator('[data-seq="300"]');
  const isShown = () =>
    marked.evaluateAll(([one]) => one?.checkVisibility() === true && one.getBoundingClientRect().top > 0);
  await expect.poll(isShown).toBe(true);

  await goTo(page, path);
  await page.getByRole('button', { name: 'To the end' }).click();
  await page.locator('[data-seq="600"]').waitFor();
  await page.goBack();
  await expect.poll(isShown).toBe(true);

  await page.goto(`${studio.gateway.url}${path}?at=9999`);
  await page.locator('[data-seq="600"]').waitFor();
  await fill(studio.gateway, ['The newest.']);
  await page.getByRole('log').getByText('The newest.').waitFor();

  await page.route('**/messages?*before=*', (route) =>
    route.fulfill({ status: 400, json: { error: { message: 'No.' } } }),
  );
  await page.goto(`${studio.gateway.url}${path}?at=300`);
  const again = page.getByRole('button', { name: /^Not loaded/ });
  await again.waitFor();
  await page.unroute('**/messages?*before=*');
  await again.click();
  await expect.poll(isShown).toBe(true);
});

test('[S2] messages that arrived while the page was hidden are read once it is shown again', async () => {
  await using studio = await startStudio(browser(), {
    spaces: [
      {
        name: 'Hall',
        people: [
          { name: 'Ada', externalId: 'ada' },
          { name: 'Ben', externalId: 'ben' },
        ],
      },
    ],
  });
  const ben = await studio.person('Ben');
  const spaceId = await fill(studio.gateway, ['First.'], ben);
  const { page, problems } = await studio.open('/inbox', { isNew: true });
  // In a headless browser all tabs count as visible, so the test sets `hidden` itself.
  await page.context().addInitScript(() => {
    let isHidden = true;
    Object.defineProperty(document, 'hidden', { get: () => isHidden });
    Object.assign(globalThis, {
      show() {
        isHidden = false;
        document.dispatchEvent(new Event('visibilitychange'));
      },
    });
  });
  let reported = 0;
  page.on('request', (request) => void (reported += request.url().endsWith('/seen') ? 1 : 0));
  await page.goto(`${studio.gateway.url}/spaces/${spaceId}`);
  await page.getByRole('log').getByText('First.').waitFor();
  await fill(studio.gateway, ['Second.'], ben);
  await page.getByRole('log').getByText('Second.').waitFor();
  // As long as a message must be on the screen to count as read.
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1_100)));
  expect(reported).toBe(0);
  const seen = page.waitForRequest((request) => request.url().endsWith('/seen'));
  await page.evaluate(() => (globalThis as unknown as { show(): void }).show());
  expect((await seen).postDataJSON()).toEqual({ seq: 2 });
  expect(problems).toEqual([]);
});

test('[S8] in a narrow window the time stays in one line beside a long name, and lists and quotes of Arabic texts begin on the right', async () => {
  const people = [{ name: 'Bartholomew'.repeat(8), externalId: 'ada' }];
  await using studio = await startStudio(browser(), { spaces: [{ name: 'Hall', people }] });
  const spaceId = await fill(studio.gateway, ['1. مرحبا\n\n2. مرحبا\n\n> مرحبا\n\n1. Hello\n2. You']);
  const { page, problems } = await studio.open(`/spaces/${spaceId}`, { width: 320, as: people[0]?.name ?? '' });
  const message = page.getByRole('log').getByRole('article');
  expect((await message.locator('time').boundingBox())?.height).toBeLessThan(24);
  const sides = await message.locator('li, blockquote').evaluateAll((all) =>
    all.map((one) => {
      const around = one.parentElement?.getBoundingClientRect();
      const { left, right } = one.getBoundingClientRect();
      const line = Number.parseFloat(getComputedStyle(one).borderRightWidth) > 0 ? ', line right' : '';
      return `${Math.round(left - (around?.left ?? 0))} ${Math.round((around?.right ?? 0) - right)}${line}`;
    }),
  );
  expect(sides).toEqual(['0 20', '0 20', '0 0, line right', '20 0', '20 0']);
  expect(problems).toEqual([]);
});
