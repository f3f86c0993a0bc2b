/** A text with placeholders for values of the call's input and for secrets of the environment. */
export type Template = readonly TemplatePart[];

type TemplatePart = string | Placeholder;

export type Placeholder = { readonly input: readonly string[] } | { readonly env: string };

const PLACEHOLDER = /\{\{([^{}]*)\}\}|\$\{([^{}]*)\}/g;
// Excludes the characters at which a URL is split.
const INPUT = /^\s*input((?:\.[^\s./?&#]+)*)\s*$/;
const ENV = /^env\.([A-Za-z_]\w{0,127})$/;

/** Reads `{{input.path}}` and `${env.NAME}`. Throws a SyntaxError for any other placeholder. */
export function parseTemplate(text: string): Template {
  const parts: TemplatePart[] = [];
  let end = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    parts.push(text.slice(end, match.index), readPlaceholder(match));
    end = match.index + match[0].length;
  }
  parts.push(text.slice(end));
  const unread = parts.find((part) => typeof part === 'string' && /\{\{|\$\{/.test(part));
  if (unread !== undefined) throw new SyntaxError('has a placeholder that does not end. Close it with }} or }.');
  return parts.filter((part) => part !== '');
}

/** Returns what is wrong with the text as a template, or undefined. */
export function templateProblem(text: string): string | undefined {
  try {
    parseTemplate(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function readPlaceholder([text, inBraces = '', afterDollar = '']: RegExpExecArray): Placeholder {
  const path = INPUT.exec(inBraces)?.[1];
  if (path !== undefined) return { input: path.split('.').slice(1) };
  const env = ENV.exec(afterDollar)?.[1];
  if (env !== undefined) return { env };
  // A secret that was pasted between the brackets must not be repeated.
  const shown = text.length <= 40 ? ` ${text}` : '';
  throw new SyntaxError(`has an unknown placeholder${shown}. Write {{input.path}} or \${env.NAME}.`);
}

/** The placeholders of a text, as they are written. Other text in braces is none. */
export function placeholdersIn(text: string): readonly string[] {
  return [...text.matchAll(PLACEHOLDER)].flatMap(([whole, inBraces = '', afterDollar = '']) =>
    INPUT.test(inBraces) || ENV.test(afterDollar) ? [whole] : [],
  );
}

export function usesInput(template: Template): boolean {
  return template.some((part) => typeof part !== 'string' && 'input' in part);
}
