import { newlineOf } from './json-object.ts';

/** Finds the lines of the template that a .gitignore lacks, and appends them to its text. */
export function extendGitIgnore(
  text: string,
  template: string,
): { readonly text: string; readonly additions: readonly string[] } {
  const there = new Set(linesOf(text).map(pathOf));
  const additions = linesOf(template).filter((line) => !there.has(pathOf(line)));
  const newline = newlineOf(text);
  const whole = text === '' || text.endsWith('\n') ? text : text + newline;
  return { text: whole + additions.map((line) => line + newline).join(''), additions };
}

function linesOf(text: string): readonly string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** `node_modules`, `/node_modules` and `node_modules/` ignore the same folder. */
function pathOf(line: string): string {
  return line.replace(/^\/|\/$/g, '');
}
