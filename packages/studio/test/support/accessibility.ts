import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';

// Without comments and long names it is less than half as long, and it is sent to the browser again and again.
const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe calls serious or critical, each with where it is. A test expects none. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  return await problemsOf(page, {});
}

/** The same, of what a theme can change: for a page of which the rest was looked at in the other theme. */
export async function colourProblems(page: Page): Promise<string[]> {
  return await problemsOf(page, { runOnly: ['color-contrast', 'link-in-text-block'] });
}

async function problemsOf(page: Page, options: axe.RunOptions): Promise<string[]> {
  // What appears fades in: colours are only what they are once that is over.
  await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => {}))));
  // As text: the page's policy lets no other script in.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(source);
  const { violations } = await page.evaluate(
    (given) => (globalThis as unknown as { axe: typeof axe }).axe.run(given),
    // Rules that load something first are about sound and film, which the studio has none of; no selectors are shown.
    { resultTypes: ['violations'], preload: false, selectors: false, ...options } satisfies axe.RunOptions,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
}
