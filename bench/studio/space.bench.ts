/// <reference lib="dom" />
/// <reference lib="dom.asynciterable" />

import { rehearsalModel } from '@lastcall/gateway';
import { withPace } from '@lastcall/gateway/internal';
import { startTestGateway, type TestGateway } from '@lastcall/gateway/testing';
import { type Browser, type Page, chromium as playwright } from 'playwright-core';
import { chromePath } from '../../packages/studio/test/support/chrome-path.ts';
import { percentile } from '../gateway/percentiles.ts';
import { heldAtLeast, heldAtMost } from '../held.ts';
import { type Report, toMarkdown } from '../report.ts';

const MESSAGES = 2_000;
const ROUNDS = 3;
const LEAST_FRAMES = 50;
/** How far each frame scrolls, in pixels. */
const PER_FRAME = 120;
const FRAMES = 180;

/** Whether a long space scrolls smoothly, typing stays smooth while an agent writes, and nothing jumps meanwhile. */
export async function benchStudioSpace(): Promise<Report> {
  const browser = await playwright.launch({
    executablePath: await chromePath(),
    args: ['--no-sandbox', '--headless=shell'],
  });
  try {
    await using gateway = await startTestGateway({
      model: withPace(rehearsalModel()),
      agents: [{ name: 'Clerk', instructions: 'Answer.' }],
      spaces: [{ name: 'Desk', people: [{ name: 'Ada', externalId: 'ada' }] }],
    });
    const page = await openFilled(browser, gateway);
    const rows: (string | number)[][] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      const scrolled = await scroll(page);
      const typed = await typeWhileStreaming(page, round);
      rows.push([round, perSecond(scrolled), percentile(scrolled, 0.95), perSecond(typed.frames), typed.shift]);
    }
    const worst = (column: number, pick: (...values: number[]) => number): number =>
      pick(...rows.map((row) => Number(row[column])));
    return {
      title: 'Studio: a space with 2,000 messages',
      claim:
        `The space is scrolled ${PER_FRAME} pixels a frame for ${FRAMES} frames; then a person types while an agent streams its answer at the ` +
        'speed of a model. Frames are measured in the page, between two calls of requestAnimationFrame. The layout shift is the sum of ' +
        'what the browser reports while the answer streams, typing excluded by the browser itself.',
      columns: ['round', 'scrolling, frames a second', 'frame p95, ms', 'typing, frames a second', 'layout shift'],
      rows,
      findings: [
        heldAtLeast('Scrolling, worst of three', worst(1, Math.min), LEAST_FRAMES, ' frames a second'),
        heldAtLeast(
          'Typing while an agent streams, worst of three',
          worst(3, Math.min),
          LEAST_FRAMES,
          ' frames a second',
        ),
        heldAtMost('Layout shift while streaming, worst of three', worst(4, Math.max), 0),
      ],
    };
  } finally {
    await browser.close();
  }
}

function perSecond(frames: readonly number[]): number {
  return (1_000 * frames.length) / frames.reduce((total, frame) => total + frame, 0);
}

async function openFilled(browser: Browser, { api, url }: TestGateway): Promise<Page> {
  const [{ id: spaceId }] = (await api('/api/spaces')).items;
  const [{ id: entityId }] = (await api('/api/entities?externalId=ada')).items;
  const [{ entityId: agent }] = (await api('/api/agents')).items;
  for (let number = 1; number <= MESSAGES; number++)
    await api(`/api/spaces/${spaceId}/messages`, { entityId, text: `Message ${number}, with **some** words.` });
  const link = await api('/api/links', { entityId, scopes: ['admin', 'write', 'read'] });
  const page = await browser.newPage({ viewport: { width: 1_200, height: 800 } });
  await page.goto(`${url}/spaces/${spaceId}${new URL(link.url).hash}`);
  await page.getByText(`Message ${MESSAGES},`).waitFor();
  // All of them are loaded, so that scrolling measures drawing and not the network.
  for (let loads = 0; loads < MESSAGES / 100 && !(await isWhole(page)); loads++) {
    await page.getByRole('log').evaluate((log) => log.scrollTo({ top: 0 }));
    await page.waitForTimeout(300);
  }
  // It joins now, and does not answer the messages before.
  await api(`/api/spaces/${spaceId}/members`, { entityId: agent });
  return page;
}

async function isWhole(page: Page): Promise<boolean> {
  return (await page.getByText('The start of this space').count()) > 0;
}

function scroll(page: Page): Promise<number[]> {
  return page.getByRole('log').evaluate(
    async (log, { perFrame, count }) => {
      const frames: number[] = [];
      const nextFrame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
      log.scrollTop = 0;
      let last = await nextFrame();
      for (let frame = 0; frame < count; frame++) {
        log.scrollTop += perFrame;
        const at = await nextFrame();
        frames.push(at - last);
        last = at;
      }
      return frames;
    },
    { perFrame: PER_FRAME, count: FRAMES },
  );
}

async function typeWhileStreaming(page: Page, round: number): Promise<{ frames: number[]; shift: number }> {
  const field = page.getByRole('textbox', { name: /^Write to/ });
  await field.fill(`Hello, number ${round}.`);
  await field.press('Enter');
  await page.getByText('is at work').first().waitFor();
  await page.evaluate(() => {
    const seen = { shift: 0, frames: [] as number[], isOver: false };
    Object.assign(globalThis, { seen });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as unknown as { value: number; hadRecentInput: boolean }[])
        if (!entry.hadRecentInput) seen.shift += entry.value;
    }).observe({ type: 'layout-shift' });
    let last = performance.now();
    const look = (at: number): void => {
      seen.frames.push(at - last);
      last = at;
      if (!seen.isOver) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await field.pressSequentially('These words are typed while the agent writes its own.', { delay: 30 });
  await page.getByText('is at work').first().waitFor({ state: 'hidden' });
  await field.fill('');
  return await page.evaluate(() => {
    const { seen } = globalThis as unknown as { seen: { shift: number; frames: number[]; isOver: boolean } };
    seen.isOver = true;
    return { frames: seen.frames.slice(1), shift: seen.shift };
  });
}

if (import.meta.main) console.log(toMarkdown(await benchStudioSpace()));
