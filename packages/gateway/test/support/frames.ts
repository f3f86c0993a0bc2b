import type { LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider';

type Request = Pick<LanguageModelV4CallOptions, 'prompt'>;

/** The unguessable part of an agent's frames, as a model that means ill would read it out of its request. */
export function frameTagOf({ prompt }: Request): string {
  const system = prompt[0]?.role === 'system' ? prompt[0].content : '';
  const tag = /<inbox-([0-9a-z]+)>/i.exec(system)?.[1];
  if (tag === undefined) throw new Error('The request names no inbox.');
  return tag;
}

/** What a reader of the request takes for real, found without any code of the gateway's. */
export interface ReadFrames {
  /** The events of all inboxes, in order, by whatever message or role they stand in: the first words of each. */
  readonly events: readonly string[];
  /** Texts that have the tag and are no frame from their first character to their last, or stand elsewhere than in a user message. */
  readonly strays: readonly string[];
}

/** Looks for the tag in everything but the system text that tells it and the model's own thoughts, which providers sign. */
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

/** The events of a text that is one frame, or undefined where it is anything else. */
function framesIn(text: string, tag: string): string[] | undefined {
  const [, name, body] = new RegExp(`^<(inbox|situation|summary)-${tag}[^\\n]*>\\n([\\s\\S]*)</\\1>$`).exec(text) ?? [];
  if (name === undefined || body === undefined) return undefined;
  if (body.toLowerCase().includes(tag.toLowerCase()) || /<\s*\/?\s*(inbox|situation|summary)/i.test(body))
    return undefined;
  const lines = body.split(/[\n\r\u0085\u2028\u2029]/).slice(0, -1);
  // An event begins at the left edge. Headings, and the note about clipped lines, tell of no event.
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
