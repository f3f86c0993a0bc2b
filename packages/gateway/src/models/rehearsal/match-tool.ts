import type { LanguageModelV4FunctionTool as Tool } from '@ai-sdk/provider';
import { isReservedToolName } from '../../config/reserved-tool-names.ts';

type IsNamed = (tool: Pick<Tool, 'name'>) => boolean;

/**
 * The tool that a text is about: the one whose name and description share most words with it. One word of the name is enough, one
 * word of the description is not. Returns undefined if no tool matches.
 */
export function matchTool(text: string, tools: readonly Tool[]): Tool | undefined {
  const asked = new Set(wordsOf(text));
  const scores = tools.map((tool) => (isOwn(tool) ? scoreOf(tool, asked) : 0));
  const most = Math.max(1, ...scores);
  return most > 1 ? tools[scores.indexOf(most)] : undefined;
}

/** True for an agent's own tool, not one that every agent has. */
export const isOwn: IsNamed = ({ name }) => !isReservedToolName(name);

/** True if the tool asks a person whether to continue. */
export const asksForConfirmation: IsNamed = isNamed(/^(confirm|approv|consent)/);

/** True if the tool's effect cannot simply be undone, so that the rehearsal asks first. */
export const isConsequential: IsNamed = isNamed(
  /^(book|reserv|order|buy|purchas|pay|charg|refund|transfer|delet|remov|cancel|deploy|publish)/,
);

/** True if the tool ends a task by handing in its result. */
export const finishes: IsNamed = isNamed(/^(report|finish|final|submit|complet|conclud|answer|result)/);

function isNamed(pattern: RegExp): IsNamed {
  return ({ name }) => wordsOf(name).some((word) => pattern.test(word));
}

function scoreOf({ name, description = '' }: Tool, asked: ReadonlySet<string>): number {
  const inName = new Set(wordsOf(name).filter((word) => asked.has(word)));
  const inDescription = new Set(wordsOf(description).filter((word) => asked.has(word) && !inName.has(word)));
  return inName.size * 2 + inDescription.size;
}

/** `fetchWeather_now` → `fetch`, `weather`. Endings are cut, so that "booking" is "book". */
export function wordsOf(text: string): readonly string[] {
  return plainWords(text)
    .filter((word) => word.length > 2 && !COMMON.has(word))
    .map((word) => (word.length > 4 ? word.replace(/(ing|ed|s)$/, '') : word));
}

/** `checkInDate` → `check`, `in`, `date`. */
export function plainWords(text: string): readonly string[] {
  return (
    text
      .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
      .toLowerCase()
      .match(/\p{L}+/gu) ?? []
  );
}

const COMMON: ReadonlySet<string> = new Set(
  plainWords(`the and for with that this what when where which who how why you your are was will can could would should
  please from into about have has had not but get set let now one all any some use tool call make give tell show ask action`),
);
