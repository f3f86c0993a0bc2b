import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

interface Found {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/** Serious and critical findings of axe on the page as it is now. A test expects `[]`. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  // Evaluated by the debugger: the page's own policy would refuse a script.
  await page.evaluate(await readFile(source, 'utf8'));
  const { violations } = (await page.evaluate('axe.run({ resultTypes: ["violations"] })')) as Found;
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}

/** How many pixels the page is wider than its window. A test expects 0. */
export async function sidewaysScroll(page: Page): Promise<number> {
  return await page.evaluate(() => {
    const scrolling = [document.documentElement, ...document.querySelectorAll('main, main *')].filter(
      (element) => getComputedStyle(element).overflowX !== 'visible' || element === document.documentElement,
    );
    const isPage = (element: Element): boolean =>
      element === document.documentElement || element.matches('main, main > div, main > div > div');
    return Math.max(...scrolling.filter(isPage).map((element) => element.scrollWidth - element.clientWidth));
  });
}
