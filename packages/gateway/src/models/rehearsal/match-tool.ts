import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { isReservedToolName } from '../../config/reserved-tool-names.ts';

/**
 * The tool that a text is about: the one whose name and description share most words with it. A word of the name is
 * enough, one of the description is not. Undefined where there is none.
 */
export function matchTool(
  text: string,
  tools: readonly LanguageModelV4FunctionTool[],
): LanguageModelV4FunctionTool | undefined {
  const asked = new Set(wordsOf(text));
  const scored = tools.filter(isOwn).map((tool) => ({ tool, score: scoreOf(tool, asked) }));
  const best = scored.reduce((most, one) => (one.score > most.score ? one : most), { tool: undefined, score: 1 } as {
    readonly tool: LanguageModelV4FunctionTool | undefined;
    readonly score: number;
  });
  return best.tool;
}

/** A tool of the agent's, not one that every agent has. */
export function isOwn({ name }: { readonly name: string }): boolean {
  return !isReservedToolName(name);
}

/** Asks a person whether to go on. */
export function asksForConfirmation({ name }: { readonly name: string }): boolean {
  return wordsOf(name).some((word) => /^(confirm|approv|consent)/.test(word));
}

/** Does what cannot simply be undone, so that asking first is right. */
export function isConsequential({ name }: { readonly name: string }): boolean {
  return wordsOf(name).some((word) =>
    /^(book|reserv|order|buy|purchas|pay|charg|refund|transfer|delet|remov|cancel|deploy|publish)/.test(word),
  );
}

/** Ends a task by handing its result in. */
export function finishes({ name }: { readonly name: string }): boolean {
  return wordsOf(name).some((word) => /^(report|finish|final|submit|complet|conclud|answer|result)/.test(word));
}

function scoreOf({ name, description = '' }: LanguageModelV4FunctionTool, asked: ReadonlySet<string>): number {
  const inName = new Set(wordsOf(name).filter((word) => asked.has(word)));
  const inDescription = new Set(wordsOf(description).filter((word) => asked.has(word) && !inName.has(word)));
  return inName.size * 2 + inDescription.size;
}

/** `fetchWeather_now` → `fetch`, `weather`. Endings are cut, so that "booking" is "book". */
function wordsOf(text: string): readonly string[] {
  return text
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter((word) => word.length > 2 && !COMMON.has(word))
    .map((word) => (word.length > 4 ? word.replace(/(ing|ed|s)$/, '') : word));
}

const COMMON: ReadonlySet<string> = new Set(
  `the and for with that this what when where which who how why you your are was will can could would should please from into
  about have has had not but get set let now one all any some use tool call make give tell show ask action`.split(
    /\s+/,
  ),
);
