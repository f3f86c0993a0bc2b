import { relative, resolve } from 'node:path';
import type { FolderPlan, Left } from './folder-plan.ts';

/** What was done in a folder, for programs and for people. */
export interface Difference {
  /** The files that are new. */
  readonly files: readonly string[];
  /** The files that were there, and what is new in them. */
  readonly extended: readonly { readonly file: string; readonly additions: readonly string[] }[];
  readonly left: readonly Left[];
  /** All of it and the commands that come next, in words. */
  readonly summary: string;
}

/** `given`: the folder as the person named it. */
export function differenceOf(plan: FolderPlan, given: string): Difference {
  const files = [...plan.added.keys()];
  const extended = plan.extended.map(({ file, additions }) => ({ file, additions }));
  const { left } = plan;
  return { files, extended, left, summary: inWords(plan, { files, extended, left }, given) };
}

function inWords(
  { commands }: FolderPlan,
  { files, extended, left }: Omit<Difference, 'summary'>,
  given: string,
): string {
  const folder = relative(process.cwd(), resolve(given));
  const isNothing = files.length === 0 && extended.length === 0;
  const lines = [
    isNothing ? 'Nothing was added: everything is there.' : 'Added:',
    ...(files.length === 0 ? [] : [`  ${files.join(', ')}`]),
    ...extended.flatMap(({ file, additions }) => additions.map((addition) => `  ${file}: ${addition}`)),
    ...(left.length === 0 ? [] : ['Left as it is:']),
    ...left.map(({ file, key, note }) => `  ${file}: ${key === undefined ? '' : `${key} `}${note}`),
    'Next:',
    ...(folder === '' ? [] : [`  cd ${folder}`]),
    ...['npm install', commands.start, commands.test].flatMap((command) => (command === '' ? [] : [`  ${command}`])),
  ];
  return lines.join('\n');
}
