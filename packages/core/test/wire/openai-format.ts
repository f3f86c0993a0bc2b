import { pieces, type WireCall, type WireFormat, type WireMessage } from './wire-reply.ts';

interface Message {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { id: unknown; type: unknown; function: { name: unknown; arguments: unknown } }[];
  readonly tool_call_id?: string;
}

export interface OpenAiRequest {
  readonly model?: unknown;
  readonly messages: readonly Message[];
  readonly tools?: readonly { type: unknown; function: { name: string; parameters: { type?: unknown } } }[];
  readonly stream?: boolean;
}

/** Chat completions. */
export const openAiFormat: WireFormat = {
  path: '/v1/chat/completions',
  problemOf: (body: OpenAiRequest, headers) =>
    typeof headers.authorization !== 'string' ? 'no authorization' : (problemOfTools(body) ?? problemOfMessages(body)),
  toBody: (reply) => ({
    ...ENVELOPE,
    object: 'chat.completion',
    choices: [{ index: 0, message: toMessage(reply), finish_reason: finishReason(reply) }],
    usage: USAGE,
  }),
  toEvents: (reply) => {
    // Not a chunk of the format: some servers send heartbeats and other data.
    const unknown = reply.unknown === true ? [event({ object: 'aura', colour: 'blue' })] : [];
    const [first, ...rest] = chunks(reply).map((choice) => event({ ...ENVELOPE, choices: [choice] }));
    const usage = event({ ...ENVELOPE, choices: [], usage: USAGE });
    return [first ?? '', ...unknown, ...rest, usage, ...unknown, 'data: [DONE]\n\n'];
  },
  streamError: event({ error: { message: 'The server had an error.', type: 'server_error', code: null } }),
  toError: (message) => ({ error: { message, type: 'invalid_request_error', param: null, code: null } }),
};

const ENVELOPE = { id: 'chatcmpl-1', created: 1, model: 'wire' };
const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

function event(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function finishReason({ finish, calls = [] }: WireMessage): string {
  return finish ?? (calls.length > 0 ? 'tool_calls' : 'stop');
}

function toMessage({ reasoning, text, calls = [] }: WireMessage): unknown {
  return {
    role: 'assistant',
    content: text ?? null,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning.text }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(toCall) }),
  };
}

function toCall({ id, name, arguments: written, signature }: WireCall): object {
  return {
    id,
    type: 'function',
    function: { name, arguments: written },
    // As Gemini sends it in this format.
    ...(signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } }),
  };
}

function chunks(reply: WireMessage): object[] {
  const { reasoning, text = '', calls = [], unknown, unreadableCalls } = reply;
  const deltas: object[] = [
    { role: 'assistant', content: '' },
    ...pieces(reasoning?.text ?? '').map((reasoning_content) => ({ reasoning_content })),
    ...pieces(text).map((content) => ({ content })),
    ...(unreadableCalls === true ? [{ tool_calls: 'two' }] : calls.flatMap(callDeltas)),
  ];
  // An unknown field, a delta with nothing known, and a kind of content part that does not exist.
  if (unknown === true)
    deltas.splice(2, 0, { aura: 'blue' }, { content: [{ type: 'hologram', shape: 'cube' }] }, { content: null });
  return [
    ...deltas.map((delta) => ({ index: 0, delta, finish_reason: null })),
    { index: 0, delta: {}, finish_reason: finishReason(reply) },
  ];
}

function callDeltas(call: WireCall, index: number): object[] {
  const start = toCall({ ...call, arguments: '' });
  return [
    { tool_calls: [{ index, ...start }] },
    ...pieces(call.arguments).map((written) => ({ tool_calls: [{ index, function: { arguments: written } }] })),
  ];
}

function problemOfTools({ model, tools = [] }: OpenAiRequest): string | undefined {
  if (typeof model !== 'string') return 'you must provide a model parameter';
  for (const { type, function: definition } of tools) {
    if (type !== 'function' || !/^[a-zA-Z0-9_-]{1,64}$/.test(definition.name)) return 'invalid tools[].function.name';
    if (definition.parameters.type !== 'object') return 'tools[].function.parameters must be an object schema';
  }
  return undefined;
}

function problemOfMessages({ messages }: OpenAiRequest): string | undefined {
  if (messages.length === 0) return 'messages is empty';
  const awaited = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    if (message.role !== 'tool' && awaited.size > 0)
      return `${at}: an assistant message with tool_calls must be followed by tool messages responding to each tool_call_id`;
    const problem = problemOf(message, awaited);
    if (problem !== undefined) return `${at}: ${problem}`;
  }
  return awaited.size > 0 ? 'the last tool_calls have no tool messages' : undefined;
}

function problemOf(message: Message, awaited: Set<unknown>): string | undefined {
  switch (message.role) {
    case 'system':
    case 'user':
      return message.content === '' || message.content === undefined ? 'content is empty' : undefined;
    case 'assistant':
      return problemOfAssistant(message, awaited);
    case 'tool':
      if (typeof message.content !== 'string' && !Array.isArray(message.content)) return 'content is missing';
      return awaited.delete(message.tool_call_id)
        ? undefined
        : 'messages with role tool must be a response to a preceding message with tool_calls';
    default:
      return `role ${message.role} is unknown`;
  }
}

function problemOfAssistant({ content, tool_calls: calls }: Message, awaited: Set<unknown>): string | undefined {
  if (calls === undefined) return typeof content === 'string' ? undefined : 'content or tool_calls must be there';
  if (calls.length === 0) return 'tool_calls is too short';
  for (const { id, type, function: called } of calls) {
    if (typeof id !== 'string' || id === '' || id.length > 40) return 'tool_calls[].id must have 1 to 40 characters';
    if (type !== 'function' || typeof called.name !== 'string') return 'tool_calls[] must be of type function';
    // Servers of this format that render templates parse the arguments, and fail if they are not an object.
    if (!isObjectText(called.arguments)) return 'tool_calls[].function.arguments must be the JSON of an object';
    if (awaited.has(id)) return 'tool_calls[].id is there twice';
    awaited.add(id);
  }
  return undefined;
}

function isObjectText(text: unknown): boolean {
  try {
    const value: unknown = JSON.parse(String(text));
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
