/// <reference lib="dom" />
/// <reference lib="dom.asynciterable" />
import { tool } from '@lastcall/core';
import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, type TestGateway, waitFor } from '@lastcall/gateway/testing';
import { type Browser, type Page, chromium as playwright } from 'playwright-core';
import { z } from 'zod';
import { chromePath } from '../../packages/studio/test/support/chrome-path.ts';
import { percentile } from '../gateway/percentiles.ts';
import { heldAtMost } from '../held.ts';
import { type Report, toMarkdown } from '../report.ts';
import { firstSeenMs, watchFirstSeen } from './first-seen.ts';

/** The last size has 302 steps: the last step is only text. */
const SIZES = [
  { calls: 20, perStep: 50 },
  { calls: 2_000, perStep: 50 },
  { calls: 301, perStep: 1 },
] as const;
const READY_MS = 600;
const ROUNDS = 3;
/** How far each frame scrolls, in pixels, as when the wheel is turned fast. */
const PER_FRAME = 300;
const FRAMES = 180;

/** Whether the page of a long run is as smooth as that of a short one. */
export async function benchStudioRunTimeline(): Promise<Report> {
  const browser = await playwright.launch({
    executablePath: await chromePath(),
    args: ['--no-sandbox', '--headless=shell'],
  });
  try {
    const rows: (string | number)[][] = [];
    for (const size of SIZES) rows.push(await measure(browser, size));
    const ready = Number(rows.at(-1)?.[2]);
    return {
      title: 'Studio: the timeline of a long run',
      claim:
        `The page of a run is opened in Chromium and scrolled ${PER_FRAME} pixels a frame for ${FRAMES} frames. Ready: from the address ` +
        'to the first call on the screen, in a browser that has the files of the page: the slowest of three times. Frames are measured in the page, between two calls of requestAnimationFrame; work is the processor time of ' +
        'the page’s own thread, which does not depend on what else the machine does.',
      columns: [
        'calls',
        'steps',
        'ready, ms',
        'work until then, ms',
        'frames a second',
        'frame p50, ms',
        'frame p95, ms',
        'work a frame, ms',
        'rows in the page',
      ],
      rows,
      findings: [heldAtMost('A run of 302 steps is opened', ready, READY_MS, ' ms')],
    };
  } finally {
    await browser.close();
  }
}

async function measure(browser: Browser, { calls, perStep }: (typeof SIZES)[number]): Promise<(string | number)[]> {
  await using gateway = await startTestGateway({
    model: scriptedModel(repliesWith(calls, perStep)),
    tools: { look_up: lookUp },
    limits: { agent: { maxSteps: 1_000 } },
    agents: [{ name: 'Clerk', instructions: 'Look things up.', tools: ['look_up'] }],
  });
  const runId = await runOn(gateway);
  const { url } = await gateway.api('/api/links', { scopes: ['admin', 'write', 'read'] });
  const page = await browser.newPage({ viewport: { width: 1_200, height: 800 } });
  await page.goto(url);
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  await watchFirstSeen(page, { selector: 'a', text: 'look_up' });
  const ready: number[] = [];
  const readyWork: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const opening = await watchWork(page);
    await page.goto(`${gateway.url}/runs/${runId}`, { waitUntil: 'commit' });
    ready.push(await firstSeenMs(page));
    readyWork.push(await opening());
  }
  const work = await watchWork(page);
  const { frames, rows } = await scroll(page);
  const workMs = await work();
  const sum = frames.reduce((total, frame) => total + frame, 0);
  await page.close();
  return [
    calls,
    Math.ceil(calls / perStep) + 1,
    Math.max(...ready),
    Math.max(...readyWork),
    (1_000 * frames.length) / sum,
    percentile(frames, 0.5),
    percentile(frames, 0.95),
    workMs / frames.length,
    rows,
  ];
}

const lookUp = tool({
  description: 'Looks something up.',
  inputSchema: z.object({ id: z.number() }),
  effects: 'none',
  execute: ({ id }) => ({ id, name: `Entry ${id}`, text: 'Some words about it. '.repeat(10) }),
});

function repliesWith(size: number, perStep: number): readonly ScriptedReply[] {
  const replies: ScriptedReply[] = [];
  for (let first = 0; first < size; first += perStep) {
    const count = Math.min(perStep, size - first);
    replies.push({
      text: `I look up ${count} things.`,
      calls: Array.from({ length: count }, (_, index) => ({ toolName: 'look_up', input: { id: first + index } })),
    });
  }
  return [...replies, 'Done.'];
}

async function runOn({ api }: TestGateway): Promise<string> {
  const { items: agents } = await api('/api/agents');
  await api(`/api/agents/${agents[0].id}/events`, { source: 'bench', name: 'go' });
  return await waitFor(
    async () => {
      const [run] = (await api('/api/runs')).items as { id: string; status: string; stop?: { reason: string } }[];
      if (run !== undefined && run.status === 'failed') throw new Error(JSON.stringify(run.stop));
      return run !== undefined && run.status === 'completed' && run.id;
    },
    { timeoutMs: 120_000 },
  );
}

/** Returns a function for the processor time that the page's main thread took since, in milliseconds. */
async function watchWork(page: Page): Promise<() => Promise<number>> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const read = async (): Promise<number> => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
  };
  const before = await read();
  return async () => (await read()) - before;
}

/** Scrolls down, and up again at the end, and returns how long each frame took. */
function scroll(page: Page): Promise<{ frames: number[]; rows: number }> {
  return page.evaluate(
    async ({ perFrame, count }) => {
      const list = document.querySelector('section[aria-label="Timeline"]') as HTMLElement;
      const frames: number[] = [];
      let direction = 1;
      let rows = 0;
      const nextFrame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
      let last = await nextFrame();
      for (let frame = 0; frame < count; frame++) {
        if (list.scrollTop + list.clientHeight >= list.scrollHeight - 1) direction = -1;
        else if (list.scrollTop === 0) direction = 1;
        list.scrollTop += direction * perFrame;
        const at = await nextFrame();
        frames.push(at - last);
        last = at;
        rows = Math.max(rows, list.querySelectorAll('a').length);
      }
      return { frames, rows };
    },
    { perFrame: PER_FRAME, count: FRAMES },
  );
}

if (import.meta.main) console.log(toMarkdown(await benchStudioRunTimeline()));
