import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';

// The minified file, which is less than half as long, because it is sent to the browser often.
const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The problems that axe rates serious or critical, with their places. A test expects none. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  return await problemsOf(page, {});
}

/** Only the problems that depend on the theme, for a page that was already checked in the other theme. */
export async function colourProblems(page: Page): Promise<string[]> {
  return await problemsOf(page, { runOnly: ['color-contrast', 'link-in-text-block'] });
}

async function problemsOf(page: Page, options: axe.RunOptions): Promise<string[]> {
  // New elements fade in, so their colours are final only after the animations.
  await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => {}))));
  // Evaluated as text, because the page's policy allows no other script.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(source);
  const { violations } = await page.evaluate(
    (given) => (globalThis as unknown as { axe: typeof axe }).axe.run(given),
    // Preloading is only for audio and video, which the studio does not have; selectors are not needed.
    { resultTypes: ['violations'], preload: false, selectors: false, ...options } satisfies axe.RunOptions,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
}
