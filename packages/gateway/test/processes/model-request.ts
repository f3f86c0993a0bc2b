import { parseInboxes, shownFrame } from '../../src/models/rehearsal/parse-inbox.ts';

/** The fields of a chat completions request that the tests read. */
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

/** A request to the model, parsed. */
export interface ModelRequest {
  /** The gateway that sent the request. */
  readonly gateway: string;
  readonly agent: string;
  /** The system text. */
  readonly system: string;
  /** All texts of the user role. */
  readonly said: string;
  readonly activeSpaceId: string | null;
  /** Numbers of the agent's spaces, by name. */
  readonly spaces: Readonly<Record<string, string>>;
  /** All events in the request, in order. */
  readonly events: readonly ShownEvent[];
  /** The events of this run. */
  readonly newEvents: readonly ShownEvent[];
  readonly calls: readonly ShownCall[];
  /** The calls of this run. */
  readonly newCalls: readonly ShownCall[];
  /** Why a provider would refuse the request. */
  readonly problem: string | undefined;
}

interface ShownCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly result: string;
}

interface ShownEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export function readRequest(gateway: string, { messages }: ChatBody): ModelRequest {
  const parsed = parseInboxes(
    messages.map((message) => (message.role === 'user' ? textOf(message) : '')),
    messages.map((message) => tagOf(message, 'inbox')).find((tag) => tag !== '') ?? '',
  );
  const inboxes = parsed.map((inbox) => inbox?.events.map(({ type, ...data }) => ({ type, data })));
  const place = parsed.findLast((inbox) => inbox !== undefined)?.space;
  const last = inboxes.findLastIndex((events) => events !== undefined);
  const situation =
    messages.map((message) => shown(message, 'situation')).findLast((lines) => lines !== undefined) ?? [];
  const places = situation.flatMap((line) => {
    const [, number = '', name = ''] = /^(?:Active space: )?(\d+) \((.*)\)/.exec(line) ?? [];
    return number === '' ? [] : [{ number, name, isActive: line.startsWith('Active') }];
  });
  // Without a situation the agent is in the only space that its inboxes name.
  if (situation.length === 0 && place !== undefined && place.id !== '')
    places.push({ number: place.id, name: place.name, isActive: true });
  return {
    gateway,
    agent: situation.flatMap((line) => /^You are (.*)\.$/.exec(line)?.[1] ?? [])[0] ?? place?.you ?? '',
    system: textsOf(messages, 'system'),
    said: textsOf(messages, 'user'),
    activeSpaceId: places.find(({ isActive }) => isActive)?.number ?? null,
    spaces: Object.fromEntries(places.map(({ number, name }) => [name, number])),
    events: inboxes.flatMap((events, index) => events ?? approvedIn(messages[index])),
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
function shown(message: ChatMessage, name: string): readonly string[] | undefined {
  return message.role === 'user' ? shownFrame(textOf(message), name, tagOf(message, name))?.items : undefined;
}

/** The input of an approved call is in the message with its outcome, and not in the inbox. */
function approvedIn(message: ChatMessage | undefined): ShownEvent[] {
  const text = message?.role === 'user' ? textOf(message) : '';
  const [, toolName, input] = /^The answer to call .+? \((\w+) (\{.*?\})\) has come:\n/.exec(text) ?? [];
  return input === undefined ? [] : [{ type: 'tool_result', data: { toolName, input: JSON.parse(input) } }];
}

function tagOf(message: ChatMessage, name: string): string {
  return new RegExp(`^<${name}-(\\w+)`).exec(textOf(message))?.[1] ?? '';
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

/** Checks that each call is followed directly by exactly one result. */
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
