import { parseJson } from '@lastcall/core/internal';
import type { EntityKind, InboxEvent, ToolResultEvent, ToolResultOutcome } from '../../domain/inbox/inbox-event.ts';
import { isIndented, withoutIndent } from '../../domain/plain-words.ts';

export interface ParsedInbox {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The space that was named last. */
  readonly space: ParsedSpace;
  readonly events: readonly InboxEvent[];
}

interface ParsedSpace {
  /** Empty if none was named. */
  readonly id: string;
  readonly name: string;
  /** The name of the agent, which a heading tells with the space. */
  readonly you: string;
}

/**
 * Parses the inboxes among the texts of a conversation, as a model is shown them: see inbox-words.ts. Spaces and calls have the names that
 * the model is shown, which tools take as ids. An inbox that continues the one before it has its time and its space. Undefined for a text
 * that is not an inbox with this tag.
 */
export function parseInboxes(texts: readonly string[], tag: string): readonly (ParsedInbox | undefined)[] {
  let newest: ParsedInbox = { now: Number.NaN, space: { id: '', name: '', you: '' }, events: [] };
  return texts.map((text) => {
    const inbox = parseInbox(text, tag, newest);
    newest = inbox ?? newest;
    return inbox;
  });
}

function parseInbox(text: string, tag: string, before: ParsedInbox): ParsedInbox | undefined {
  const frame = shownFrame(text, 'inbox', tag);
  if (frame === undefined) return undefined;
  const [, at] = / at="([^"]*)"/.exec(frame.opening) ?? [];
  let { space } = before;
  const events = frame.items.flatMap((item): InboxEvent[] => {
    const [, id, name, you = ''] = SPACE.exec(item) ?? [];
    if (id === undefined || name === undefined) return toEvent(item, space);
    space = { id: toName(id), name: toName(name), you: toName(you) };
    return [];
  });
  return { now: at === undefined ? before.now : toTime(at), space, events };
}

/** The lines of a frame as a model is shown it. A line with the indented ones behind it is one item. */
export function shownFrame(
  text: string,
  name: string,
  tag: string,
): { readonly opening: string; readonly items: readonly string[] } | undefined {
  const [opening = '', ...lines] = text.split('\n');
  if (
    !opening.startsWith(`<${name}-${tag}`) ||
    !/^( [a-z]+="[^"<>]*")*>$/.test(opening.slice(name.length + tag.length + 2))
  )
    return undefined;
  if (lines.pop() !== `</${name}>`) return undefined;
  const items: string[][] = [];
  for (const line of lines)
    if (isIndented(line)) items.at(-1)?.push(line);
    else items.push([line]);
  return { opening, items: items.map(withoutIndent) };
}

// A name is plain or a JSON string. An id is a name without spaces.
const NAME = String.raw`("(?:[^"\\]|\\.)*"|[^"(),:\n]+)`;
const ID = String.raw`("(?:[^"\\]|\\.)*"|[^\s"(),:]+)`;
const TIME = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d`;
const NOTES = `(?:, (?:reply to ${ID.replace('(', '(?:')}|sent ${TIME}|attempt \\d+|shown before|late))*`;
const SPACE = new RegExp(`^Space ${NAME} \\(${NAME}\\)(?:, where you are ${NAME})?:$`);
const MESSAGE = new RegExp(`^${ID} ${NAME}(?: \\((agent|service)\\))?${NOTES}: ([^]*)$`);
// An approved call is named without its input.
const RESULT = new RegExp(`^call ${ID} ${ID}(?: ([^\\n]*))?\\n([^]*)$`);
const PLAN = new RegExp(`^plan ${NAME} \\(${NAME}\\), due (${TIME})${NOTES}: ([^]*)$`);
const SERVICE = new RegExp(`^service ${NAME}, ${NAME}${NOTES}: ([^]*)$`);
const OUTCOME = new RegExp(
  `^(answered|failed|approved|denied|expired|question)(?: \\d+ answered)?(?: by ${NAME})?(?: with another input)?${NOTES}(?:: ([^]*))?$`,
);

function toEvent(item: string, space: ParsedSpace): InboxEvent[] {
  const [isResult, callId = '', toolName = '', input = '', outcome = ''] = RESULT.exec(item) ?? [];
  if (isResult !== undefined) return [toResult({ callId: toName(callId), toolName: toName(toolName), input }, outcome)];
  const [isPlan, key = '', planName = '', due = '', instruction = ''] = PLAN.exec(item) ?? [];
  if (isPlan !== undefined) {
    const plan = { key: toName(key), name: toName(planName), instruction, dueAt: toTime(due) };
    return [{ type: 'plan', planId: plan.key, ...plan }];
  }
  const [isService, source = '', name = '', data = ''] = SERVICE.exec(item) ?? [];
  if (isService !== undefined)
    return [{ type: 'service', source: toName(source), name: toName(name), data: toValue(data) }];
  const [isMessage, messageId = '', sender = '', kind = 'human', text = ''] = MESSAGE.exec(item) ?? [];
  if (isMessage === undefined) return [];
  const from = { entityId: '', name: toName(sender), kind: kind as EntityKind };
  return [
    { type: 'space_message', messageId: toName(messageId), spaceId: space.id, spaceName: space.name, from, text },
  ];
}

function toResult(
  { callId, toolName, input }: { readonly callId: string; readonly toolName: string; readonly input: string },
  line: string,
): ToolResultEvent {
  const [, status = '', by, said = ''] = OUTCOME.exec(line) ?? [];
  const resolvedBy = by === undefined ? {} : { resolvedBy: { entityId: '', name: toName(by) } };
  return {
    type: 'tool_result',
    callId,
    toolName,
    input: toValue(input),
    outcome: toOutcome(status, withoutIndent(said.split('\n'))),
    ...resolvedBy,
  };
}

function toOutcome(status: string, said: string): ToolResultOutcome {
  switch (status) {
    case 'answered':
      return { status: 'ok', value: toValue(said) };
    case 'failed':
      return { status: 'error', message: said };
    case 'approved':
      return { status: 'approved' };
    case 'denied':
      return { status: 'denied', reason: said };
    case 'question':
      return { status: 'answered', round: 1 };
    default:
      return { status: 'expired' };
  }
}

function toName(name: string): string {
  const value = name.startsWith('"') ? toValue(name) : name;
  return typeof value === 'string' ? value : name;
}

/** JSON, or a text that is none. */
function toValue(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

function toTime(words: string): number {
  return Date.parse(`${words.replace(' ', 'T')}Z`);
}
