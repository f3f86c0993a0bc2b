import { situationInWords } from './agents/situation-words.ts';
import { type Frame, parseAnyFrame } from './frame.ts';
import { addTag, hideTag } from './frame-tag.ts';
import { inboxInWords } from './inbox/inbox-words.ts';
import { timeInWords, valueInWords } from './plain-words.ts';

/*
 * A frame as a model reads it. It is stored as JSON, which programs read, and shown in words, which cost a model fewer tokens and less
 * care. The words depend on nothing but the stored text and the tag, so a message reads the same in every request, and a provider's
 * cache knows it.
 *
 * Only the first line has the tag. The last line needs none: plain-words.ts escapes the "<" of every closing tag inside the lines, so
 * the frame ends where it says.
 */

/** The stored text of a frame in words, with the tag. Undefined if the text is not a frame: it was clipped, for example. */
export function showFrame(text: string, tag: string): string | undefined {
  const frame = parseAnyFrame(text);
  const words = frame === undefined ? undefined : toWords(frame);
  if (frame === undefined || words === undefined) return addTag(text, tag);
  const attributes = words.attributes.map((one) => ` ${one}`).join('');
  const body = words.lines.map((line) => `${hideTag(line, tag)}\n`).join('');
  return `<${frame.name}-${tag}${attributes}>\n${body}</${frame.name}>`;
}

/** The lines of a frame in words, for a summary. */
export function frameLines(frame: Frame): readonly string[] | undefined {
  const { continues: _continues, ...attributes } = frame.attributes ?? {};
  return toWords({ ...frame, attributes })?.lines;
}

interface FrameWords {
  readonly attributes: readonly string[];
  readonly lines: readonly string[];
}

/** Undefined for frames that are shown as they are stored. */
function toWords({ name, attributes = {}, lines }: Frame): FrameWords | undefined {
  const { now, you, continues, leftout } = attributes;
  const end = leftout === undefined ? [] : [`(${Number(leftout)} more lines were too long to keep.)`];
  switch (name) {
    case 'inbox': {
      const isContinued = continues !== undefined;
      const at = now === undefined || isContinued ? [] : [`at="${timeInWords(Date.parse(String(now)))}"`];
      const name = you === undefined ? undefined : decodeURIComponent(String(you));
      return { attributes: at, lines: [...inboxInWords(lines, { now, you: name, isContinued }), ...end] };
    }
    case 'situation':
      return { attributes: [], lines: [...situationInWords(lines), ...end] };
    case 'summary':
      return { attributes: [], lines: [...lines.map((line) => valueInWords(line)), ...end] };
    default:
      return undefined;
  }
}
