import { relative, resolve } from 'node:path';
import type { FolderPlan, Left } from './folder-plan.ts';

/** What was changed in a folder, for programs and for people. */
export interface Difference {
  /** New files. */
  readonly files: readonly string[];
  /** Existing files, and what was added to them. */
  readonly extended: readonly { readonly file: string; readonly additions: readonly string[] }[];
  readonly left: readonly Left[];
  /** The changes and the next commands, in words. */
  readonly summary: string;
}

/** `given` is the folder as the user named it. */
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
    ...(folder === '' ? [] : [`  cd ${shellWord(folder)}`]),
    ...['npm install', commands.start, commands.test].flatMap((command) => (command === '' ? [] : [`  ${command}`])),
  ];
  return lines.join('\n');
}

/** The text as one word of a shell. */
function shellWord(text: string): string {
  return /^[\w./\\@:+-]+$/.test(text) ? text : `"${text.replaceAll(/["$`]/g, '\\$&')}"`;
}
