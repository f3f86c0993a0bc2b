import { type Entry, Transcript } from '@lastcall/core';

type Message = ReturnType<Transcript['view']>[number];
type Part = Exclude<Message['content'], string>[number];

const CHARACTERS_A_TOKEN = 4;
/** An image costs a model about this much, regardless of its size in bytes. */
const FILE_CHARACTERS = 6_000;

/**
 * Estimates the tokens of messages, inputs and outputs of tools included. No provider's own count is known before the
 * request.
 */
export function estimateTokens(messages: readonly Message[]): number {
  return toTokens(messages.reduce((sum, message) => sum + charactersOf(message), 0));
}

/** Messages with known sizes, to count a list that is mostly the same. */
export class CountedMessages {
  static readonly NONE: CountedMessages = new CountedMessages([], 0);
  readonly #messages: readonly Message[];
  readonly #characters: number;

  private constructor(messages: readonly Message[], characters: number) {
    this.#messages = messages;
    this.#characters = characters;
  }

  get tokens(): number {
    return toTokens(this.#characters);
  }

  /** Counts these messages. Messages that are the same objects at the same positions are not measured again. */
  next(messages: readonly Message[]): CountedMessages {
    let characters = this.#characters;
    const length = Math.max(messages.length, this.#messages.length);
    for (let at = 0; at < length; at++) {
      const before = this.#messages[at];
      const now = messages[at];
      if (before === now) continue;
      if (before !== undefined) characters -= charactersOf(before);
      if (now !== undefined) characters += charactersOf(now);
    }
    return new CountedMessages(messages, characters);
  }
}

/** Estimates the tokens of entries as the model sees them. */
export function estimateEntries(entries: readonly Entry[]): number {
  return estimateTokens(new Transcript(entries).view());
}

export function toTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_A_TOKEN);
}

export function toCharacters(tokens: number): number {
  return Math.max(0, Math.floor(tokens)) * CHARACTERS_A_TOKEN;
}

function charactersOf({ content }: Message): number {
  if (typeof content === 'string') return content.length;
  return (content as readonly Part[]).reduce((sum, part) => sum + charactersOfPart(part), 0);
}

function charactersOfPart(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text.length;
    case 'tool-call':
      return part.toolCallId.length + part.toolName.length + jsonLength(part.input);
    case 'tool-result':
      return part.toolCallId.length + part.toolName.length + outputLength(part.output);
    case 'file':
      return part.data.type === 'text' ? part.data.text.length : FILE_CHARACTERS;
    case 'reasoning-file':
      return FILE_CHARACTERS;
    default:
      return jsonLength(part);
  }
}

function outputLength(output: Extract<Part, { type: 'tool-result' }>['output']): number {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value.length;
    case 'content':
      return output.value.reduce((sum, one) => sum + (one.type === 'text' ? one.text.length : FILE_CHARACTERS), 0);
    default:
      return jsonLength(output);
  }
}

/** Entries and their inputs never change, so each is measured once. */
const lengths = new WeakMap<object, number>();

export function jsonLength(value: unknown): number {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)?.length ?? 0;
  const known = lengths.get(value);
  if (known !== undefined) return known;
  const length = JSON.stringify(value)?.length ?? 0;
  lengths.set(value, length);
  return length;
}
