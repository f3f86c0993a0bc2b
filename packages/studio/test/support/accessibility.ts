import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe calls serious or critical, each with where it is. A test expects none. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  // What appears fades in: colours are only what they are once that is over.
  await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => {}))));
  // As text: the page's policy lets no other script in.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ['violations'] }),
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
}
