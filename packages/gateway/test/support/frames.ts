import type { LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider';

type Request = Pick<LanguageModelV4CallOptions, 'prompt'>;

/** The unguessable part of an agent's frames, as a malicious model would read it from its request. */
export function frameTagOf({ prompt }: Request): string {
  const system = prompt[0]?.role === 'system' ? prompt[0].content : '';
  const tag = /<inbox-([0-9a-z]+)>/i.exec(system)?.[1];
  if (tag === undefined) throw new Error('The request names no inbox.');
  return tag;
}

/** The events that a reader of the request would trust, found without code of the gateway. */
export interface ReadFrames {
  /** The events of all inboxes, in order, in any message and role: the first words of each. */
  readonly events: readonly string[];
  /** Texts with the tag that are not a frame as a whole, or that are not in a user message. */
  readonly strays: readonly string[];
}

/** Looks for the tag in everything except the system text, which contains it, and the model's reasoning, which providers sign. */
export function readFrames({ prompt }: Request, tag: string): ReadFrames {
  const events: string[] = [];
  const strays: string[] = [];
  for (const message of prompt.slice(1))
    for (const text of textsIn(message)) {
      if (!text.toLowerCase().includes(tag.toLowerCase())) continue;
      const found = message.role === 'user' ? framesIn(text, tag) : undefined;
      if (found === undefined) strays.push(`${message.role}: ${text}`);
      else events.push(...found);
    }
  return { events, strays };
}

/** The events of a text that is one frame, or undefined if it is not. */
function framesIn(text: string, tag: string): string[] | undefined {
  const [, name, body] = new RegExp(`^<(inbox|situation|summary)-${tag}[^\\n]*>\\n([\\s\\S]*)</\\1>$`).exec(text) ?? [];
  if (name === undefined || body === undefined) return undefined;
  if (body.toLowerCase().includes(tag.toLowerCase()) || /<\s*\/?\s*(inbox|situation|summary)/i.test(body))
    return undefined;
  const lines = body.split(/[\n\r\u0085\u2028\u2029]/).slice(0, -1);
  // An event begins at the left edge. Headings, and the note about clipped lines, are not events.
  const events = lines.filter((line) => !line.startsWith('  ') && !NO_EVENT.test(line));
  return name === 'inbox' ? events.map((line) => /^(m\d+|call [\d.]+|plan|service) /.exec(line)?.[1] ?? line) : [];
}

const NO_EVENT = /^((Space .*|Other events):|\(\d+ more lines were too long to keep\.\))$/;

function textsIn(message: LanguageModelV4Message): string[] {
  if (typeof message.content === 'string') return [message.content];
  return message.content.filter(({ type }) => type !== 'reasoning').flatMap(deepTexts);
}

/** Every text of a value: its own, of its fields, of their names, and of files that are texts. */
function deepTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('utf8')];
  if (typeof value !== 'object' || value === null) return [];
  const { mediaType, data } = value as { mediaType?: string; data?: { data?: unknown } };
  const isText = mediaType?.startsWith('text/') === true && typeof data?.data === 'string';
  const decoded = isText ? [Buffer.from(String(data.data), 'base64').toString('utf8')] : [];
  return [...decoded, ...Object.entries(value).flatMap(([key, one]) => [key, ...deepTexts(one)])];
}
