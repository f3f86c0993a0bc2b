import type { Entry } from '@lastcall/core';
import { isFrame } from '../frame.ts';
import { clip } from './clip.ts';
import { clipFrame } from './clip-frame.ts';
import { jsonLength } from './estimate-tokens.ts';
import { isReference, toReference } from './output-reference.ts';
import type { ReplyEntry } from './split-runs.ts';

type SettledEntry = Extract<Entry, { kind: 'settled' }>;
type MessageEntry = Extract<Entry, { kind: 'message' }>;
type Content = Exclude<MessageEntry['message']['content'], string>;
type Part = Content[number];

/** A shorter output is hardly longer than a reference to it. */
const MIN_OUTPUT_SIZE = 400;

/**
 * Replaces the largest outputs by references: as few as needed for the entries to fit, or all. Their number is searched by halving,
 * because `fits` reads the whole transcript: one by one, a thousand outputs would occupy the process for seconds.
 */
export function replaceLargestOutputs(
  entries: readonly Entry[],
  fits: (entries: readonly Entry[]) => boolean,
): readonly Entry[] {
  const largest = entries
    .flatMap((entry, index) => (entry.kind === 'settled' ? [{ entry, index, size: outputSize(entry) }] : []))
    .filter(({ size }) => size > MIN_OUTPUT_SIZE)
    .sort((one, other) => other.size - one.size);
  const withReferences = (count: number): readonly Entry[] => {
    const replaced = [...entries];
    for (const { entry, index } of largest.slice(0, count)) replaced[index] = toReference(entry);
    return replaced;
  };
  let [fewest, most] = [0, largest.length];
  while (fewest < most) {
    const middle = Math.floor((fewest + most) / 2);
    if (fits(withReferences(middle))) most = middle;
    else fewest = middle + 1;
  }
  return fewest === 0 ? entries : withReferences(fewest);
}

function outputSize({ settlement: { outcome } }: SettledEntry): number {
  return outcome.text.length + (outcome.status === 'ok' ? jsonLength(outcome.content ?? '') : 0);
}

/**
 * Clips every text of the entries to `characters`, and marks where something is left out. What core needs stays
 * complete: the calls as they were written, and what waiting calls wait for.
 */
export function clipEntries(entries: readonly Entry[], characters: number): readonly Entry[] {
  return entries.map((entry) => clipEntry(entry, characters));
}

function clipEntry(entry: Entry, characters: number): Entry {
  switch (entry.kind) {
    case 'message':
      return clipMessage(entry, characters);
    case 'reply':
      return clipReply(entry, characters);
    case 'settled':
      return clipSettled(entry, characters);
    case 'nudge':
      return { ...entry, text: clip(entry.text, characters) };
    default:
      return entry;
  }
}

function clipMessage(entry: MessageEntry, characters: number): MessageEntry {
  const { content } = entry.message;
  const isOurs = isFrame(entry.message);
  const clipped =
    typeof content === 'string'
      ? clip(content, characters)
      : (content as Part[]).map(
          (part) => (isOurs ? clipFramePart(part, characters) : undefined) ?? clipPart(part, characters),
        );
  return { ...entry, message: { ...entry.message, content: clipped } as MessageEntry['message'] };
}

/** A frame that is clipped must stay a frame. */
function clipFramePart(part: Part, characters: number): Part | undefined {
  if (part.type !== 'text' || part.text.length <= characters) return undefined;
  const text = clipFrame(part.text, characters);
  return text === undefined ? undefined : { ...part, text };
}

/** Reasoning is dropped, not clipped: providers sign it and refuse changed reasoning. */
function clipReply(entry: ReplyEntry, characters: number): ReplyEntry {
  const content = entry.content
    .filter(({ type }) => type !== 'reasoning' && type !== 'reasoning-file' && type !== 'custom')
    .map((part) => clipPart(part, characters) as ReplyEntry['content'][number]);
  return { ...entry, content };
}

function clipPart(part: Part, characters: number): Part {
  switch (part.type) {
    case 'text':
      return { ...part, text: clip(part.text, characters) };
    case 'file':
      return { type: 'text', text: '[A file, left out.]' };
    case 'tool-call':
      return jsonLength(part.input) > characters ? { ...part, input: clippedInput(part.input, characters) } : part;
    case 'tool-result':
      return jsonLength(part.output) > characters
        ? { ...part, output: { type: 'text', value: clip(JSON.stringify(part.output), characters) } }
        : part;
    default:
      return part;
  }
}

function clipSettled(entry: SettledEntry, characters: number): SettledEntry {
  const shorter = outputSize(entry) > characters && !isReference(entry) ? shorterOutput(entry) : entry;
  // The message about a late answer repeats the call's input, so that is clipped too.
  if (shorter.late !== true || jsonLength(shorter.settlement.input) <= characters) return shorter;
  const { settlement } = shorter;
  return { ...shorter, settlement: { ...settlement, input: clippedInput(settlement.input, characters) } };
}

function shorterOutput(entry: SettledEntry): SettledEntry {
  const referred = toReference(entry);
  return outputSize(referred) < outputSize(entry) ? referred : entry;
}

function clippedInput(input: unknown, characters: number): object {
  return { leftOut: clip(JSON.stringify(input) ?? '', characters) };
}
