import { waitFor } from '@lastcall/gateway/testing';
import { type Browser, type Locator, type Page, chromium as playwright } from 'playwright-core';
import { expect, test } from 'vitest';
import { useBrowser } from './support/browser.ts';
import { chromePath } from './support/chrome-path.ts';
import { type Studio, startStudio } from './support/studio.ts';

const browser = useBrowser();

/** The addresses of the main pages: a space with a card that waits, home, the run, the inbox, and the agent. */
async function mainPages({ gateway: { api }, person }: Studio): Promise<Readonly<Record<string, string>>> {
  const [space] = (await api('/api/spaces')).items;
  // Long enough for a heading of three lines.
  const text = `Book a hotel in Tokyo for 3 nights, please, ${'with breakfast in a quiet room, '.repeat(6)}if there is one.`;
  await api(`/api/spaces/${space.id}/messages`, { entityId: await person('Ada'), text });
  const [call] = await waitFor(async () => {
    const { items } = await api('/api/pending');
    return items.length > 0 && items;
  });
  return {
    space: `/spaces/${space.id}`,
    // A browser that has shown a space before opens at home.
    home: '/',
    run: `/runs/${call.runId}`,
    inbox: '/inbox',
    workbench: `/agents/${call.agentId}?tab=workbench`,
    edit: `/agents/${call.agentId}?tab=workbench&pane=edit`,
  };
}

/** Elements that show that the page has loaded. */
const SIGNS: Readonly<Record<string, (page: Page) => Locator>> = {
  space: (page) => page.getByRole('button', { name: 'Yes' }),
  home: (page) => page.getByRole('region', { name: 'Waiting for you' }),
  run: (page) => page.getByText('confirm_booking'),
  inbox: (page) => page.getByRole('list', { name: 'waiting calls' }),
  workbench: (page) => page.getByRole('textbox', { name: 'Write to the draft' }),
  edit: (page) => page.getByRole('textbox', { name: 'Instructions' }),
};

/** Controls that cannot be used: outside of the window, clipped by an ancestor, in an ancestor that is lower than they are, or with text that does not fit. */
function unusableControls(): readonly string[] {
  const found: string[] = [];
  /** True if an ancestor clips a part of it, and a person cannot scroll there. */
  const isCutOff = (control: HTMLElement): boolean => {
    const box = control.getBoundingClientRect();
    for (let around = control.parentElement; around !== null; around = around.parentElement) {
      const { overflowX } = getComputedStyle(around);
      if (overflowX === 'auto' || overflowX === 'scroll') return false;
      const edge = around.getBoundingClientRect();
      if (overflowX !== 'visible' && (box.right > edge.right + 1 || box.left < edge.left - 1)) return true;
    }
    return false;
  };
  const isSquashed = (control: HTMLElement): boolean => {
    for (let around = control.parentElement; around !== null; around = around.parentElement)
      if (getComputedStyle(around).overflowY !== 'visible' && around.clientHeight < control.offsetHeight - 1)
        return true;
    return false;
  };
  for (const control of document.querySelectorAll<HTMLElement>('button, a, input, select, textarea, summary')) {
    if (!control.checkVisibility() || control.closest('.sr-only') !== null || control.matches('.sr-only')) continue;
    const wasCutOff = isCutOff(control);
    control.scrollIntoView({ block: 'center', inline: 'nearest' });
    const box = control.getBoundingClientRect();
    const name = `${control.tagName.toLowerCase()} ${(control.getAttribute('aria-label') ?? control.textContent ?? '').trim().slice(0, 40)}`;
    if (box.width === 0 || box.height === 0) continue;
    if (isSquashed(control)) found.push(`${name}: squashed`);
    else if (wasCutOff) found.push(`${name}: cut off`);
    else if (box.left < -1 || box.right > innerWidth + 1) found.push(`${name}: beside the window`);
    else if (control.matches('button') && control.scrollWidth > control.clientWidth + 1)
      found.push(`${name}: cut words`);
    else {
      const middle = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
      if (middle === null || !(control.contains(middle) || middle.contains(control)))
        found.push(`${name}: covered by ${middle?.tagName} ${middle?.className}`);
    }
  }
  return found;
}

async function problemsOf(page: Page): Promise<readonly string[]> {
  const [width, inner] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  const sideways = (width ?? 0) > (inner ?? 0) ? [`scrolls sideways: ${width} of ${inner}`] : [];
  return [...sideways, ...(await page.evaluate(unusableControls))];
}

interface Zoom {
  readonly width: number;
  readonly height: number;
  /** The most common font size. */
  readonly text: string;
}

async function expectUsable(zoomed: Browser, { text, ...size }: Zoom): Promise<void> {
  await using studio = await startStudio(zoomed);
  const pages = await mainPages(studio);
  const { page, problems } = await studio.open('/inbox', size);
  // Waits until the page is signed in: leaving it before would prevent that.
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  const found: Record<string, readonly string[]> = {};
  for (const [name, path] of Object.entries(pages)) {
    await page.goto(`${studio.gateway.url}${path}`);
    await SIGNS[name]?.(page).first().waitFor();
    found[name] = await problemsOf(page);
  }
  expect(found).toEqual(Object.fromEntries(Object.keys(pages).map((name) => [name, []])));
  expect(await page.evaluate(() => getComputedStyle(document.body).fontSize)).toBe(text);
  expect(problems).toEqual([]);
}

test('[S8] at a zoom of 200 %, no main page scrolls sideways, and every control can be seen and used', async () => {
  await expectUsable(browser(), { width: 640, height: 400, text: '14px' });
});

test('[S8] in a window of 320 × 480 pixels, no main page scrolls sideways, and every control can be seen and used', async () => {
  await expectUsable(browser(), { width: 320, height: 480, text: '14px' });
});

test('[S8] with text of twice the usual size, no main page scrolls sideways, and every control can be seen and used', async () => {
  const args = ['--no-sandbox', '--headless=shell', '--blink-settings=defaultFontSize=32'];
  const large = await playwright.launch({ executablePath: await chromePath(), args });
  try {
    await expectUsable(large, { width: 1_280, height: 800, text: '28px' });
  } finally {
    await large.close();
  }
});
