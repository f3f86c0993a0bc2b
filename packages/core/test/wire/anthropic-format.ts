import { pieces, type WireCall, type WireFormat, type WireMessage } from './wire-reply.ts';

interface Block {
  readonly type: string;
  readonly id?: string;
  readonly text?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly content?: unknown;
  readonly is_error?: boolean;
  readonly thinking?: string;
  readonly signature?: string;
  readonly data?: string;
}

interface Message {
  readonly role: string;
  readonly content: readonly Block[];
}

export interface AnthropicRequest {
  readonly max_tokens?: unknown;
  readonly system?: readonly Block[];
  readonly messages: readonly Message[];
  readonly tools?: readonly { name: string; input_schema: { type?: unknown } }[];
  readonly thinking?: { readonly type: string };
  readonly stream?: boolean;
}

/** Messages, for a server that has issued the reasoning in `issued`. Like the real one it accepts no other reasoning. */
export function anthropicFormat(issued: readonly WireMessage[]): WireFormat {
  return {
    path: '/v1/messages',
    problemOf: (body: AnthropicRequest, headers) => {
      if (typeof headers['x-api-key'] !== 'string') return 'x-api-key header is required';
      if (typeof headers['anthropic-version'] !== 'string') return 'anthropic-version: header is required';
      return problemOfTop(body) ?? problemOfMessages(body, issued);
    },
    toBody: (reply) => ({
      ...ENVELOPE,
      content: blocksOf(reply).map(({ whole }) => whole),
      stop_reason: stopReason(reply),
      stop_sequence: null,
      usage: { input_tokens: 11, output_tokens: 7 },
    }),
    toEvents,
    streamError: event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } }),
    toError: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
  };
}

const ENVELOPE = { id: 'msg_1', type: 'message', role: 'assistant', model: 'wire' };

function event(type: string, data: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

function stopReason({ finish, calls = [] }: WireMessage): string {
  if (finish === 'length') return 'max_tokens';
  return calls.length > 0 ? 'tool_use' : 'end_turn';
}

interface StreamedBlock {
  readonly whole: object;
  readonly start: object;
  readonly deltas: readonly object[];
}

function blocksOf({ reasoning, redacted, text, calls = [], unreadableCalls }: WireMessage): StreamedBlock[] {
  const blocks: StreamedBlock[] = [];
  if (reasoning !== undefined) blocks.push(thinkingBlock(reasoning.text, reasoning.signature ?? ''));
  if (redacted !== undefined) {
    const whole = { type: 'redacted_thinking', data: redacted };
    blocks.push({ whole, start: whole, deltas: [] });
  }
  if (text !== undefined) {
    const deltas = pieces(text).map((piece) => ({ type: 'text_delta', text: piece }));
    blocks.push({ whole: { type: 'text', text }, start: { type: 'text', text: '' }, deltas });
  }
  const asked = calls.map(callBlock);
  return [
    ...blocks,
    ...(unreadableCalls === true ? asked.map((block) => ({ ...block, start: { type: 'tool_use' } })) : asked),
  ];
}

function thinkingBlock(thinking: string, signature: string): StreamedBlock {
  return {
    whole: { type: 'thinking', thinking, signature },
    start: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      ...pieces(thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
      { type: 'signature_delta', signature },
    ],
  };
}

function callBlock({ id, name, arguments: written }: WireCall): StreamedBlock {
  return {
    whole: { type: 'tool_use', id, name, input: toInput(written) },
    start: { type: 'tool_use', id, name, input: {} },
    deltas: [
      { type: 'input_json_delta', partial_json: '' },
      ...pieces(written).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    ],
  };
}

/** A complete body has parsed input; input that cannot be parsed is sent as text. */
function toInput(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch {
    return written;
  }
}

function toEvents(reply: WireMessage): readonly string[] {
  const events = [
    event('message_start', {
      message: { ...ENVELOPE, content: [], stop_reason: null, usage: { input_tokens: 11, output_tokens: 1 } },
    }),
    event('ping'),
    ...(reply.unknown === true ? unknownEvents() : []),
    ...blocksOf(reply).flatMap(blockEvents),
    event('message_delta', {
      delta: { stop_reason: stopReason(reply), stop_sequence: null },
      usage: { output_tokens: 7 },
    }),
  ];
  if (reply.unknown === true) events.push(event('aura', { colour: 'green' }));
  return [...events, event('message_stop')];
}

/** An event, a kind of block and a kind of delta that do not exist. */
function unknownEvents(): string[] {
  return [
    event('aura', { colour: 'blue' }),
    event('content_block_start', { index: 90, content_block: { type: 'hologram', shape: '' } }),
    event('content_block_delta', { index: 90, delta: { type: 'shape_delta', shape: 'cube' } }),
    event('content_block_stop', { index: 90 }),
  ];
}

function blockEvents({ start, deltas }: StreamedBlock, index: number): string[] {
  return [
    event('content_block_start', { index, content_block: start }),
    ...deltas.map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ];
}

function problemOfTop({ max_tokens, system = [], tools = [] }: AnthropicRequest): string | undefined {
  if (typeof max_tokens !== 'number') return 'max_tokens: Field required';
  if (system.some(({ text }) => text?.trim() === '')) return 'system: text content blocks must be non-empty';
  for (const { name, input_schema } of tools) {
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) return 'tools: invalid name';
    if (input_schema.type !== 'object') return 'tools: input_schema.type must be object';
  }
  return undefined;
}

function problemOfMessages(body: AnthropicRequest, issued: readonly WireMessage[]): string | undefined {
  const { messages } = body;
  if (messages[0]?.role !== 'user') return 'messages: first message must use the "user" role';
  for (const [index, message] of messages.entries()) {
    const previous = messages[index - 1];
    const problem =
      problemOfRole(message, previous) ?? problemOfBlocks(message, issued) ?? problemOfPairs(message, previous);
    if (problem !== undefined) return `messages.${index}: ${problem}`;
  }
  if (messages.at(-1)?.role !== 'user') return 'the conversation must end with a user message';
  return problemOfNoTools(body) ?? problemOfThinking(body);
}

function problemOfNoTools({ messages, tools = [] }: AnthropicRequest): string | undefined {
  if (tools.length > 0) return undefined;
  return messages.some(({ content }) => content.some(({ type }) => type === 'tool_use'))
    ? 'Requests which include `tool_use` or `tool_result` blocks must define tools'
    : undefined;
}

function problemOfRole({ role, content }: Message, previous: Message | undefined): string | undefined {
  if (role !== 'user' && role !== 'assistant') return `role ${role} is not allowed here`;
  if (previous?.role === role) return 'roles must alternate between "user" and "assistant"';
  return content.length === 0 ? 'all messages must have non-empty content' : undefined;
}

function problemOfBlocks({ role, content }: Message, issued: readonly WireMessage[]): string | undefined {
  for (const block of content) {
    const problem = problemOfBlock(role, block, issued);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOfBlock(role: string, block: Block, issued: readonly WireMessage[]): string | undefined {
  switch (`${role}/${block.type}`) {
    case 'user/text':
    case 'assistant/text':
      return block.text?.trim() === '' ? 'text content blocks must contain non-whitespace text' : undefined;
    case 'user/tool_result':
      return block.is_error === true && (block.content === '' || block.content === undefined)
        ? 'content cannot be empty if is_error is true'
        : undefined;
    case 'assistant/tool_use':
      if (!/^[a-zA-Z0-9_-]+$/.test(block.id ?? '')) return 'tool_use.id: String should match pattern';
      return typeof block.input === 'object' && block.input !== null && !Array.isArray(block.input)
        ? undefined
        : 'tool_use.input: Input should be a valid dictionary';
    case 'assistant/thinking':
      return issued.some(
        ({ reasoning }) => reasoning?.text === block.thinking && reasoning?.signature === block.signature,
      )
        ? undefined
        : 'Invalid `signature` in `thinking` block';
    case 'assistant/redacted_thinking':
      return issued.some(({ redacted }) => redacted === block.data)
        ? undefined
        : 'Invalid `data` in `redacted_thinking` block';
    default:
      return `a ${block.type} block is not allowed in a message of role ${role}`;
  }
}

function problemOfPairs({ content }: Message, previous: Message | undefined): string | undefined {
  const uses = (previous?.content ?? []).filter(({ type }) => type === 'tool_use').map(({ id }) => id);
  const results = content.filter(({ type }) => type === 'tool_result').map(({ tool_use_id }) => tool_use_id);
  if (new Set(uses).size < uses.length) return '`tool_use` ids must be unique';
  if (results.some((id) => !uses.includes(id))) return 'unexpected `tool_use_id` found in `tool_result` blocks';
  if (new Set(results).size < results.length) return 'each tool_use must have a single result';
  if (results.length < uses.length) return '`tool_use` ids were found without `tool_result` blocks immediately after';
  return content.slice(0, results.length).every(({ type }) => type === 'tool_result')
    ? undefined
    : '`tool_result` blocks must come first';
}

/** During tool calls with thinking enabled, the reply with the calls must still start with its thinking. */
function problemOfThinking({ messages, thinking }: AnthropicRequest): string | undefined {
  if (thinking?.type !== 'enabled' || messages.at(-1)?.content[0]?.type !== 'tool_result') return undefined;
  const first = messages.at(-2)?.content[0]?.type;
  return first === 'thinking' || first === 'redacted_thinking'
    ? undefined
    : `Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\``;
}
