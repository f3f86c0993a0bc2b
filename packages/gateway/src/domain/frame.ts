import type { LanguageModelV4FilePart, LanguageModelV4Message } from '@ai-sdk/provider';
import { parseJson } from '@lastcall/core/internal';
import { HIDDEN, withoutHiddenTags } from './frame-tag.ts';

/**
 * Frames: the user messages in which the gateway itself tells a model about events, its situation and earlier runs. They hold JSON
 * values, one per line, between two tags, and are stored like this:
 *
 *     <inbox-hidden run="3" now="2026-01-01T00:00:00.000Z">
 *     {"event":"message:1","type":"space_message"}
 *     </inbox-hidden>
 *
 * 1. No value can imitate a line or a tag: it contains no line break and no "<", because both are escaped.
 * 2. A message is a frame if it has a mark in its provider options. Its text does not make it one, so a text that imitates a frame,
 *    or repeats a whole one, is not a frame.
 * 3. Only `frameMessage` sets the mark. Core writes all its own messages without provider options, so no answer, nudge or rewind has it.
 * 4. `fromOutside` removes the mark from a message of a caller.
 *
 * What is stored holds no secret. On the way to the model, guard-model.ts writes the agent's tag into marked messages, and only there.
 */
export interface Frame {
  /** The kind of content, e.g. `inbox`. */
  readonly name: string;
  readonly attributes?: Readonly<Record<string, string | number>>;
  readonly lines: readonly unknown[];
}

type UserMessage = Extract<LanguageModelV4Message, { role: 'user' }>;

/** `files` follow the frame. They are not part of it. */
export function frameMessage(text: string, files: readonly LanguageModelV4FilePart[] = []): UserMessage {
  return { role: 'user', content: [{ type: 'text', text }, ...files], providerOptions: { [OWNER]: { frame: true } } };
}

export function isFrame(message: LanguageModelV4Message): message is UserMessage {
  return message.role === 'user' && message.providerOptions?.[OWNER]?.frame === true;
}

/** The message without its mark. */
export function withoutMark(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.providerOptions === undefined || !(OWNER in message.providerOptions)) return message;
  const { providerOptions, ...rest } = message;
  const { [OWNER]: _mark, ...others } = providerOptions;
  return Object.keys(others).length === 0 ? rest : { ...rest, providerOptions: others };
}

/** A message that a caller gave, which is neither a frame nor reasoning of the agent's model. */
export function fromOutside(message: LanguageModelV4Message): LanguageModelV4Message {
  const unmarked = withoutMark(message);
  if (unmarked.role !== 'assistant' || !unmarked.content.some(({ type }) => type === 'reasoning')) return unmarked;
  const content = unmarked.content.map((part) =>
    part.type === 'reasoning' ? { ...part, text: withoutHiddenTags(part.text) } : part,
  );
  return { ...unmarked, content };
}

/** The provider options of this name are the gateway's own. No provider gets them. */
const OWNER = 'lastcall';

export function renderFrame({ name, attributes = {}, lines }: Frame): string {
  const said = Object.entries(attributes).map(([key, value]) => ` ${key}="${value}"`);
  return [`<${name}-${HIDDEN}${said.join('')}>`, ...lines.map(renderLine), `</${name}-${HIDDEN}>`].join('\n');
}

/**
 * Parses the text of a frame. Returns undefined if the text is not exactly that: a frame inside other text does not count. A model is
 * shown its tag in place of `hidden`.
 */
export function parseFrame(text: string, name: string, tag: string = HIDDEN): Frame | undefined {
  const opening = `<${name}-${tag}`;
  const closing = `\n</${name}-${tag}>`;
  const first = text.indexOf('\n');
  if (first === -1 || !text.startsWith(opening) || !text.endsWith(closing)) return undefined;
  const written = text.slice(opening.length, first);
  if (!/^( [a-z]+="[^"<>]*")*>$/.test(written)) return undefined;
  const attributes: Record<string, string> = {};
  for (const [, key = '', value = ''] of written.matchAll(/ ([a-z]+)="([^"]*)"/g)) attributes[key] = value;
  const last = text.length - closing.length;
  const lines = parseLines(first === last ? [] : text.slice(first + 1, last).split('\n'));
  return lines === undefined ? undefined : { name, attributes, lines };
}

/** Parses a frame of any name. */
export function parseAnyFrame(text: string): Frame | undefined {
  const [, name] = /^<([a-z]+)-/i.exec(text) ?? [];
  return name === undefined ? undefined : parseFrame(text, name);
}

/** Returns undefined if a line is not JSON, e.g. because the text was clipped. */
function parseLines(lines: readonly string[]): unknown[] | undefined {
  try {
    return lines.map((line): unknown => parseJson(line));
  } catch {
    return undefined;
  }
}

function renderLine(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE_CHARACTERS, escapeCharacter);
}

// "<" would open a tag. The others are line breaks to some readers, and JSON does not escape them.
const UNSAFE_CHARACTERS = /[<\u0085\u2028\u2029]/g;

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
