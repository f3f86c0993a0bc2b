import type { InboxLine } from '../../src/domain/inbox/render-inbox.ts';

/** A request of chat completions, as far as we read it. */
export interface ChatBody {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly unknown[];
}

interface ChatMessage {
  readonly role: string;
  readonly content?: string | readonly { readonly text?: string }[] | null;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { name: string; arguments: string } }[];
  readonly tool_call_id?: string;
}

/** What an agent was shown, read back. */
export interface ModelRequest {
  /** The gateway that asks. */
  readonly gateway: string;
  readonly agent: string;
  /** The system text. */
  readonly system: string;
  /** All texts of the user role. */
  readonly said: string;
  readonly activeSpaceId: string | null;
  /** Ids by name, of those the agent is in. */
  readonly spaces: Readonly<Record<string, string>>;
  /** Everything that ever arrived, in order. */
  readonly events: readonly InboxLine[];
  /** What arrived for this run. */
  readonly newEvents: readonly InboxLine[];
  readonly calls: readonly ShownCall[];
  /** Those of this run. */
  readonly newCalls: readonly ShownCall[];
  /** Why a provider would refuse the request. */
  readonly problem: string | undefined;
}

interface ShownCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly result: string;
}

/** Of what an agent is told of its situation. */
interface Line {
  readonly about: string;
  readonly name?: string;
  readonly spaceId?: string | null;
}

export function readRequest(gateway: string, { messages }: ChatBody): ModelRequest {
  const inboxes = messages.map((message) => linesOf(message, 'inbox') as InboxLine[] | undefined);
  const last = inboxes.findLastIndex((lines) => lines !== undefined);
  const situation = messages.map((message) => linesOf(message, 'situation')).findLast((lines) => lines !== undefined);
  const about = (what: string): Line[] => ((situation ?? []) as Line[]).filter((line) => line.about === what);
  return {
    gateway,
    agent: about('you')[0]?.name ?? '',
    system: textsOf(messages, 'system'),
    said: textsOf(messages, 'user'),
    activeSpaceId: about('active_space')[0]?.spaceId ?? null,
    spaces: Object.fromEntries(about('space').map(({ name = '', spaceId = '' }) => [name, spaceId ?? ''])),
    events: inboxes.flatMap((lines) => lines ?? []),
    newEvents: inboxes[last] ?? [],
    calls: callsIn(messages),
    newCalls: callsIn(messages.slice(last + 1)),
    problem: problemOf(messages),
  };
}

function textsOf(messages: readonly ChatMessage[], role: string): string {
  const own = messages.filter((message) => message.role === role);
  return own.map(textOf).join('\n');
}

function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map(({ text = '' }) => text).join('');
}

/** The lines of a frame that the gateway wrote. */
function linesOf(message: ChatMessage, name: string): unknown[] | undefined {
  if (message.role !== 'user') return undefined;
  const [first = '', ...rest] = textOf(message).split('\n');
  if (!first.startsWith(`<${name}-`)) return undefined;
  return rest.filter((line) => line.startsWith('{')).map((line): unknown => JSON.parse(line));
}

function callsIn(messages: readonly ChatMessage[]): ShownCall[] {
  const results = new Map(messages.map((message) => [message.tool_call_id, textOf(message)]));
  return messages
    .flatMap(({ tool_calls = [] }) => tool_calls)
    .map(({ id, function: { name, arguments: written } }) => ({
      name,
      input: JSON.parse(written) as ShownCall['input'],
      result: results.get(id) ?? '',
    }));
}

/** Each call is followed directly by its one result. */
function problemOf(messages: readonly ChatMessage[]): string | undefined {
  const awaited = new Set<string>();
  for (const [index, { role, tool_calls = [], tool_call_id = '' }] of messages.entries()) {
    if (role === 'tool' && !awaited.delete(tool_call_id))
      return `messages[${index}] is the result of no call before it.`;
    if (role !== 'tool' && awaited.size > 0) return `messages[${index}] stands where results are missing.`;
    for (const { id } of tool_calls) awaited.add(id);
  }
  return awaited.size > 0 ? 'The last calls have no results.' : undefined;
}
