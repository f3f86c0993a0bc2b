import { randomInt } from 'node:crypto';
import { replaceTexts } from '../telemetry/replace-texts.ts';

/*
 * An agent's tag in texts. Only guard-model.ts knows the tag of an agent and uses these functions: see there. Tags are letters and
 * digits. Their case is ignored, because some models ignore it.
 */

/** Stands in place of the tag in everything that is stored or shown. It is also valid in the name of a tool. */
export const HIDDEN = 'hidden';

/**
 * It has about 40 random bits, and a guess can only be tried by a message to the agent: a million messages with a thousand guesses each hit
 * it once in a thousand times. Longer tags cost tokens in every request. Three digits are one token for most models, so 12 digits cost four. In front is a letter that few words end in, so that a delta of a streamed reply is
 * rarely held back (see untag-stream.ts). The letter also keeps the tag from being a number in JSON, where it would not be hidden.
 */
export function newTag(): string {
  const groups = Array.from({ length: 4 }, () => String(randomInt(1000)).padStart(3, '0'));
  return `q${groups.join('')}`;
}

/** True if the text may contain the tag. Nearly no text does, and this check needs no regular expression. */
export function hasTag(text: string, tag: string): boolean {
  return text.length >= tag.length && text.toLowerCase().includes(tag.toLowerCase());
}

export function hideTag(text: string, tag: string): string {
  return hasTag(text, tag) ? text.replace(new RegExp(tag, 'gi'), HIDDEN) : text;
}

/** Hides the tag in every text of a value, in field names and in errors. Returns the same value if nothing was hidden. */
export function hideTagIn<T>(value: T, tag: string): T {
  return replaceTexts(value, (text) => hideTag(text, tag));
}

/**
 * Hides the tag in JSON text. An escape in front of a part of the tag may look like its beginning ("\\b" in front of the rest of a tag
 * that starts with "b"), so escapes are skipped as wholes.
 */
export function hideTagInJson(json: string, tag: string): string {
  if (!hasTag(json, tag)) return json;
  return json.replace(new RegExp(`\\\\(?:u[0-9a-f]{4}|.)|${tag}`, 'gi'), (found) =>
    found.startsWith('\\') ? found : HIDDEN,
  );
}

/** The text of a frame with the tag in its first and last line. Undefined if the text is not a frame: it was clipped, for example. */
export function addTag(text: string, tag: string): string | undefined {
  const [, name, attributes, body] = FRAME.exec(text) ?? [];
  if (name === undefined || attributes === undefined || body === undefined) return undefined;
  return `<${name}-${tag}${attributes}>\n${escapeTag(body, tag)}</${name}-${tag}>`;
}

const FRAME = new RegExp(`^<([a-z]+)-${HIDDEN}((?: [a-z]+="[^"<>]*")*)>\\n((?:[^<]*\\n)?)</\\1-${HIDDEN}>$`);

/** Escapes the last character of the tag in JSON text. It is far enough from any earlier escape to be no part of one. */
function escapeTag(json: string, tag: string): string {
  if (!hasTag(json, tag)) return json;
  const escapeEnd = (found: string): string =>
    `${found.slice(0, -1)}\\u${found
      .charCodeAt(found.length - 1)
      .toString(16)
      .padStart(4, '0')}`;
  return json.replace(new RegExp(tag, 'gi'), escapeEnd);
}

/** The text in which the gateway explains its frames, with the tag in their names. */
export function addTagToNames(explanation: string, tag: string): string {
  return explanation.replaceAll(`-${HIDDEN}>`, `-${tag}>`);
}

/*
 * Providers sign reasoning and refuse it if it was changed, so its tags are hidden in a way that can be reversed exactly. A hidden tag is
 * followed by an invisible character, a digit per character of the tag that says which were upper case (none, if none was), and
 * another invisible character. The first of the two is doubled wherever the model itself wrote it.
 */
const ESCAPE = '\u2063';
const END = '\u2064';

export function hideTagInReasoning(text: string, tag: string): string {
  if (!text.includes(ESCAPE) && !hasTag(text, tag)) return text;
  return text.replace(new RegExp(`${ESCAPE}|${tag}`, 'gi'), (found) =>
    found === ESCAPE ? ESCAPE + ESCAPE : `${HIDDEN}${ESCAPE}${caseOf(found)}${END}`,
  );
}

/** The same in every text of a value: providers repeat reasoning in its metadata, and sign both. */
export function hideTagInReasoningOf<T>(value: T, tag: string): T {
  return replaceTexts(value, (text) => hideTagInReasoning(text, tag));
}

/** Reverses `hideTagInReasoning`. */
export function showTagInReasoning(text: string, tag: string): string {
  if (!text.includes(ESCAPE)) return text;
  return text.replace(HIDDEN_IN_REASONING, (_found, upper: string | undefined) =>
    upper === undefined ? ESCAPE : withCase(tag, upper),
  );
}

export function showTagInReasoningOf<T>(value: T, tag: string): T {
  return replaceTexts(value, (text) => showTagInReasoning(text, tag));
}

const HIDDEN_IN_REASONING = new RegExp(`${ESCAPE}${ESCAPE}|${HIDDEN}${ESCAPE}([01]*)${END}`, 'g');

/** Reasoning that no model wrote: a tag was never hidden in it. */
export function withoutHiddenTags(reasoning: string): string {
  return reasoning.replaceAll(ESCAPE, ESCAPE + ESCAPE);
}

function caseOf(found: string): string {
  const bits = [...found].map((one) => (one === one.toLowerCase() ? '0' : '1')).join('');
  return bits.includes('1') ? bits : '';
}

function withCase(tag: string, upper: string): string {
  return [...tag].map((one, at) => (upper[at] === '1' ? one.toUpperCase() : one)).join('');
}
