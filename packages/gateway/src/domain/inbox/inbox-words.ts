import { type Attachment, sizeInWords } from '../artifacts/attachment.ts';
import { shortCall } from '../calls/call-number.ts';
import { jsonInWords, nameInWords, textInWords, timeInWords, valueInWords } from '../plain-words.ts';
import type { EntityKind, SpaceMessageEvent, ToolResultEvent, ToolResultOutcome } from './inbox-event.ts';
import type { InboxLine } from './render-inbox.ts';

/*
 * The lines of an inbox as a model reads them. Each is made of the stored line alone, so it reads the same in every request:
 *
 *     Space 2 (Invoices), where you are Clerk:
 *     m12 Ada: Pay invoice 4711, amount 120.
 *     m13 Scout (agent), reply to m12: I can do that.
 *     Other events:
 *     call 7 ask_person {"question":"Which bank?"}
 *       answered by Ada: The second.
 *     call 8 pay_invoice
 *       approved by Ada
 *     plan daily-report (Daily report), due 2026-01-01 09:00: Write the report.
 *     service shop, opened: {"door":1}
 *
 * An inbox that continues the one before it begins without its first heading: see inbox-place.ts.
 */
export function inboxInWords(
  lines: readonly unknown[],
  { now, you, isContinued = false }: InboxNotes = {},
): readonly string[] {
  const shown: string[] = [];
  const role = you === undefined ? '' : `, where you are ${plain(you)}`;
  let heading: string | undefined;
  for (const line of lines) {
    const { heading: own, text } = lineInWords(line, Date.parse(String(now)));
    // All messages of an inbox that is continued are of one space.
    if (isContinued && own !== undefined) heading = own;
    // Without a heading of their own, the other events would read as if they belonged to the space above them.
    const needed = own ?? (heading === undefined ? undefined : OTHERS);
    if (needed !== undefined && needed !== heading) shown.push(needed === own ? `${needed}${role}:` : needed);
    heading = needed;
    shown.push(text);
  }
  return shown;
}

const OTHERS = 'Other events:';

interface InboxNotes {
  /** When the run began. */
  readonly now?: string | number | undefined;
  /** The name of the agent. */
  readonly you?: string | undefined;
  readonly isContinued?: boolean;
}

interface LineInWords {
  /** The space of a message. */
  readonly heading?: string;
  readonly text: string;
}

/** A line that is none of ours is shown as the JSON that it is. */
function lineInWords(line: unknown, now: number): LineInWords {
  if (typeof line !== 'object' || line === null) return { text: jsonInWords(line) };
  const { type, data, at, attempt, again } = line as Partial<InboxLine>;
  if (typeof data !== 'object' || data === null || !isWhole(type, data)) return { text: jsonInWords(line) };
  const more = [
    ...since(at, now),
    ...(typeof attempt === 'number' ? [`attempt ${attempt}`] : []),
    // Otherwise a model could take it for a second request, and do again what it has done.
    ...(again === true ? ['shown before'] : []),
  ];
  switch (type) {
    case 'space_message': {
      const message = data as unknown as SpaceMessageEvent;
      return { heading: spaceInWords(message), text: eventMessage(message, more) };
    }
    case 'tool_result':
      return { text: resultInWords(data as unknown as ToolResultEvent, more) };
    case 'plan': {
      const { key, name, instruction, dueAt, late } = data as Record<string, string> & { dueAt: number };
      const notes = [`due ${timeInWords(dueAt)}`, ...(late === undefined ? [] : ['late']), ...more];
      return {
        text: `plan ${plain(key)} (${plain(name)}), ${notes.join(', ')}: ${textInWords(String(instruction))}`,
      };
    }
    case 'service': {
      const { source, name, data: sent } = data;
      return { text: `service ${[plain(source), plain(name), ...more].join(', ')}: ${valueInWords(sent)}` };
    }
    default:
      return { text: jsonInWords(line) };
  }
}

/** Frames of other versions may lack what a line is made of. A model must still be asked. */
function isWhole(type: unknown, { from, outcome }: Readonly<Record<string, unknown>>): boolean {
  const needed = type === 'space_message' ? from : type === 'tool_result' ? outcome : {};
  return typeof needed === 'object' && needed !== null;
}

function plain(name: unknown): string {
  return nameInWords(String(name));
}

/** When an event came, if it waited. The frame itself says when its run began. */
function since(at: unknown, now: number): readonly string[] {
  const came = Date.parse(String(at));
  return now - came > RECENT_MS ? [`sent ${timeInWords(came)}`] : [];
}

const RECENT_MS = 5 * 60_000;

function spaceInWords({ spaceId, spaceName, spaceNumber }: SpaceMessageEvent): string {
  return `Space ${spaceNumber ?? plain(spaceId)} (${plain(spaceName)})`;
}

function eventMessage(event: SpaceMessageEvent, more: readonly string[]): string {
  const { messageId, seq, from, text, attachments = [], replyTo, replyToSeq } = event;
  const reply = replyToSeq === undefined ? replyTo && plain(replyTo) : messageNumber(replyToSeq);
  const id = seq === undefined ? plain(messageId) : messageNumber(seq);
  return messageInWords({ id, from, reply, text: [text, ...attachments.map(attachedInWords)].join('\n').trim(), more });
}

/** `[attached: plan.png, 12 kB]`. What a model can be shown of it follows the inbox: see models/with-files.ts. */
export function attachedInWords({ name, bytes }: Attachment): string {
  return `[attached: ${plain(name)}, ${sizeInWords(bytes)}]`;
}

export interface MessageInWords {
  readonly id: string;
  readonly from: { readonly name: string; readonly kind: EntityKind };
  readonly reply?: string | undefined;
  readonly text: string;
  readonly more?: readonly string[];
}

/** `m12 Ada: Hello.` */
export function messageInWords({ id, from, reply, text, more = [] }: MessageInWords): string {
  const notes = [...(reply === undefined ? [] : [`reply to ${reply}`]), ...more];
  return `${[`${id} ${senderInWords(from)}`, ...notes].join(', ')}: ${textInWords(String(text))}`;
}

/** People are shown by their names alone. */
export function senderInWords({ name, kind }: MessageInWords['from']): string {
  return kind === 'human' ? plain(name) : `${plain(name)} (${String(kind) === 'agent' ? 'agent' : 'service'})`;
}

export function messageNumber(seq: number): string {
  return `m${seq}`;
}

function resultInWords(event: ToolResultEvent, more: readonly string[]): string {
  const { callId, toolName, input, outcome, resolvedBy } = event;
  const by = resolvedBy === undefined ? '' : ` by ${plain(resolvedBy.name)}`;
  const notes = [outcomeInWords(outcome, by), ...more];
  const { said } = saidBy(outcome);
  const text = said === undefined ? '' : `: ${valueInWords(said, 2)}`;
  // The input is JSON, and so cannot hold a line break: the line of the outcome is always the second.
  const call = [shortCall(String(callId)), plain(toolName), ...(isRun(outcome) ? [] : [jsonInWords(input)])].join(' ');
  return `${call}\n  ${notes.join(', ')}${text}`;
}

/** True if the call runs now with its own input. The message with its result follows, and repeats the input: see late-answer.ts in core. */
function isRun(outcome: ToolResultOutcome): boolean {
  return outcome.status === 'approved' && outcome.input === undefined;
}

function outcomeInWords(outcome: ToolResultOutcome, by: string): string {
  switch (outcome.status) {
    case 'ok':
      return `answered${by}`;
    case 'error':
      return `failed${by}`;
    case 'expired':
      return 'expired: No one answered in time.';
    case 'approved':
      return outcome.input === undefined ? `approved${by}` : `approved${by} with another input`;
    case 'denied':
      return `denied${by}`;
    case 'answered':
      return `question ${outcome.round} answered${by}`;
    default:
      return 'ended';
  }
}

function saidBy(outcome: ToolResultOutcome): { readonly said?: unknown } {
  switch (outcome.status) {
    case 'ok':
      return { said: outcome.value };
    case 'error':
      return { said: outcome.message };
    case 'approved':
      return outcome.input === undefined ? {} : { said: outcome.input };
    case 'denied':
      return { said: outcome.reason };
    default:
      return {};
  }
}
