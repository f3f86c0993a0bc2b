import { tool } from '@lastcall/core';
import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { useBrowser } from '../support/browser.ts';
import { startStudio } from '../support/studio.ts';
import { calls, deskOptions, runOf, say } from './desk.ts';

const browser = useBrowser();
const LONGEST_NAME = 'a_tool_with_a_name_that_is_as_long_as_the_name_of_a_tool_may_be_';

/** Has an unknown outcome: it has external effects, and times out. */
const endless = () =>
  tool({ description: 'Sends.', inputSchema: z.looseObject({}), timeoutMs: 50, execute: () => new Promise(() => {}) });

/** Texts of a row that overlap, or that are outside of the row. */
function collisionsIn(row: Locator): Promise<string[]> {
  return row.evaluate((one) => {
    const boxes: { text: string; box: DOMRect }[] = [];
    const walker = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const cell = node.parentElement;
      if (cell === null || node.textContent?.trim() === '' || cell.closest('.sr-only') !== null) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      // A clipped text is visible only within its own element.
      const [text, clip] = [range.getBoundingClientRect(), cell.getBoundingClientRect()];
      const right = getComputedStyle(cell).overflow === 'hidden' ? Math.min(text.right, clip.right) : text.right;
      boxes.push({ text: node.textContent ?? '', box: new DOMRect(text.x, text.y, right - text.x, text.height) });
    }
    const overlap = (a: DOMRect, b: DOMRect) =>
      a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
    const frame = one.getBoundingClientRect();
    return [
      ...boxes.filter(({ box }) => box.right > frame.right + 1).map(({ text }) => `${text} is beside the row`),
      ...boxes.flatMap((a, at) =>
        boxes.slice(at + 1).flatMap((b) => (overlap(a.box, b.box) ? [`${a.text} lies on ${b.text}`] : [])),
      ),
    ];
  });
}

test('[S8] no texts of a timeline overlap, however long the outcome and the name of the tool are', async () => {
  const script = [calls(['post_letter', { to: 'Ada' }], [LONGEST_NAME, { to: 'Ben' }]), 'Done.'];
  const { tools = {}, ...desk } = deskOptions(script);
  const more = { post_letter: endless(), [LONGEST_NAME]: endless() };
  const agents = [{ name: 'Concierge', instructions: 'You send.', tools: Object.keys(more) }];
  const spaces = desk.spaces?.slice(0, 1) ?? [];
  await using studio = await startStudio(browser(), { ...desk, agents, spaces, tools: { ...tools, ...more } });
  const runId = await runOf(studio.gateway, await say(studio.gateway, 'Send it.'));
  for (const width of [1_280, 380]) {
    const { page, problems } = await studio.open(`/runs/${runId}`, { width });
    const rows = page.getByRole('region', { name: 'Timeline' }).getByRole('link', { name: /unknown outcome timeout/ });
    await expect.poll(() => rows.count()).toBe(2);
    for (const row of await rows.all()) expect(await collisionsIn(row)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    expect(problems).toEqual([]);
  }
});
