import type { ToolSet } from '../contract/tool-set.ts';
import { PluginError } from '../errors.ts';

/** Throws if the instructions of a mode name a tool that the agent has and the mode does not. */
export function assertNamesOnly(
  where: { plugin: string; mode: string },
  instructions: string,
  inMode: ToolSet,
  ofAgent: ToolSet,
): void {
  const lacking = toolsNamedIn(instructions, Object.keys(ofAgent)).filter((name) => !Object.hasOwn(inMode, name));
  if (lacking.length === 0) return;
  const listed = lacking.map((name) => `"${name}"`).join(' and ');
  throw new PluginError(
    where,
    `its instructions name ${listed}, which this mode does not have. Offer the tool, or do not mention it.`,
  );
}

/**
 * Which of these names a text mentions as tools: in backticks, alone or with arguments, and also without backticks if a
 * name has an underscore, because no word of prose has one.
 */
export function toolsNamedIn(text: string, names: readonly string[]): readonly string[] {
  const code = new Set(codeLines(text).map(calledIn));
  const words = new Set(text.split(/[^A-Za-z0-9_-]+/));
  return names.filter((name) => code.has(name) || (name.includes('_') && words.has(name)));
}

/** The lines of all code in backticks: a span has one, a block may have many. */
function codeLines(text: string): readonly string[] {
  return Array.from(text.matchAll(/(`+)(.+?)\1(?!`)/gs), ([, , code = '']) => code.split('\n')).flat();
}

/** The name that a line of code calls or is: `draw`, `draw(2)`, `draw {"count":2}`; not the first word of a phrase. */
function calledIn(line: string): string | undefined {
  return /^\s*([A-Za-z0-9_-]+)\s*(?:$|[({])/.exec(line)?.[1];
}
