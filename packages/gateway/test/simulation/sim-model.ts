import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { answerText, isAnswered } from '../processes/answering.ts';
import { type ChatBody, type ModelRequest, readRequest } from '../processes/model-request.ts';
import { placeOf } from './place.ts';
import type { Surroundings } from './surroundings.ts';
import { currentProcess } from './virtual-time.ts';

interface Reply {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly input: object }[];
}

const STOP = { unified: 'stop', raw: undefined } as const;

export const TOKENS_OF_A_REQUEST = 120;

/** The usage of every request. */
const USAGE = {
  inputTokens: { total: 100, noCache: 100, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 20, text: 20, reasoning: undefined },
};

const HARM = { 'model-slow': 0.02, 'model-fails': 0.006, 'model-breaks-off': 0.006, die: 0.004, stall: 0.003 };

/** A model that does what is requested: one tool by its name, then an answer. It decides only by its request. */
export function simModel(world: Surroundings): LanguageModelV4 {
  const { time, faults, ledger } = world;
  let replies = 0;

  async function* stream({
    prompt,
    tools = [],
  }: LanguageModelV4CallOptions): AsyncGenerator<LanguageModelV4StreamPart> {
    const process = currentProcess();
    const request = readRequest('sim', toChatBody(prompt));
    if (request.problem !== undefined) ledger.invalidPrompts.push(request.problem);
    const fault = faults.at('model', HARM);
    if (process !== undefined && (fault === 'die' || fault === 'stall')) world.harm(fault, process);
    await time.sleep(fault === 'model-slow' ? 15_000 : 5 + 500 * faults.number('model takes') ** 2);
    if (fault === 'model-fails') throw new Error('The provider is overloaded.');
    const offered = new Set(tools.map(({ name }) => name));
    const reply = handOver(
      decide(request, () => faults.number('batch')),
      offered,
    );
    world.log(
      `${process?.name} model: ${reply.text ?? reply.calls?.map(({ name, input }) => name + JSON.stringify(input)).join(' ')}`,
    );
    yield { type: 'stream-start', warnings: [] };
    for (const part of partsOf(reply, replies++)) {
      await time.sleep(1 + 20 * faults.number('model writes') ** 2);
      if (fault === 'model-breaks-off' && part.type.endsWith('-delta')) throw new Error('The provider broke off.');
      yield part;
    }
  }

  return {
    specificationVersion: 'v4',
    provider: 'lastcall.simulation',
    modelId: 'simulated',
    supportedUrls: {},
    doGenerate: (options) => summarise(world, options),
    doStream: async (options) => ({ stream: toStream(stream(options)) }),
  };
}

/** The requests that a text says were answered: in a record of what happened, or in a summary of it. */
function answeredIn(text: string): readonly string[] {
  const summed = [...text.matchAll(/Answered: ([\w ]*)\./g)].flatMap(([, refs = '']) => refs.split(' '));
  const sent = [...text.matchAll(/Answer to (\w+)\./g)].map(([, ref = '']) => ref);
  return [...new Set([...summed, ...sent])].filter((ref) => ref !== '');
}

/** The summary of a long transcript. A run that failed after an answer is retried, so the summary says what was answered. */
async function summarise(
  world: Surroundings,
  { prompt }: LanguageModelV4CallOptions,
): Promise<LanguageModelV4GenerateResult> {
  const { time, faults } = world;
  const process = currentProcess();
  const fault = faults.at('summary', HARM);
  if (process !== undefined && (fault === 'die' || fault === 'stall')) world.harm(fault, process);
  await time.sleep(fault === 'model-slow' ? 15_000 : 5 + 500 * faults.number('summary takes') ** 2);
  if (fault === 'model-fails' || fault === 'model-breaks-off') throw new Error('The provider is overloaded.');
  world.log(`${process?.name} model: a summary of ${prompt.length} messages`);
  return {
    content: [{ type: 'text', text: `Answered: ${answeredIn(JSON.stringify(prompt)).join(' ')}.` }],
    finishReason: STOP,
    usage: USAGE,
    warnings: [],
  };
}

function toStream(parts: AsyncGenerator<LanguageModelV4StreamPart>): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await parts.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
}

function* partsOf({ text, calls = [] }: Reply, reply: number): Generator<LanguageModelV4StreamPart> {
  if (text !== undefined) {
    yield { type: 'text-start', id: 't' };
    for (const delta of text.match(/.{1,9}/g) ?? []) yield { type: 'text-delta', id: 't', delta };
    yield { type: 'text-end', id: 't' };
  }
  for (const [index, { name, input }] of calls.entries()) {
    const id = `${reply}-${index}`;
    const written = JSON.stringify(input);
    yield { type: 'tool-input-start', id, toolName: name };
    for (const delta of written.match(/.{1,12}/g) ?? []) yield { type: 'tool-input-delta', id, delta };
    yield { type: 'tool-input-end', id };
    yield { type: 'tool-call', toolCallId: id, toolName: name, input: written };
  }
  yield {
    type: 'finish',
    finishReason: calls.length > 0 ? { unified: 'tool-calls', raw: undefined } : STOP,
    usage: USAGE,
  };
}

/** A call of a tool that is not offered goes to the sub-agent, or waits until the machine is where the tool is. */
function handOver(reply: Reply, offered: ReadonlySet<string>): Reply {
  const { calls = [] } = reply;
  if (calls.every(({ name }) => offered.has(name))) return reply;
  if (offered.has('transition_back')) return { calls: [{ name: 'transition_back', input: {} }] };
  return {
    calls: calls.map(({ name, input }) =>
      offered.has(name)
        ? { name, input }
        : { name: 'helper', input: { task: `${name} ${(input as { ref: string }).ref}` } },
    ),
  };
}

function decide(request: ModelRequest, draw: () => number): Reply {
  const isConversation = !/<(inbox|situation)-/.test(request.said);
  return isConversation ? converse(request) : attend(request, draw);
}

/** Calls that a person answers. */
const ASKED: readonly string[] = ['confirm', 'transfer'];

/** In a conversation the answer is the text. */
function converse(request: ModelRequest): Reply {
  const [, what = '', ref = ''] = [...request.said.matchAll(/(\w+) ([ce]\d+)/g)].at(-1) ?? [];
  if (what !== 'answer' && !isCalled(request, what, ref)) return { calls: [{ name: what, input: { ref } }] };
  return { text: answerText(ref) };
}

interface Duty {
  readonly what: string;
  readonly ref: string;
}

function attend(request: ModelRequest, draw: () => number): Reply {
  const open = dutiesOf(request)
    .map((duty) => ({ duty, calls: nextCalls(request, duty, draw) }))
    .filter(({ calls }) => calls.length > 0);
  const [first] = open;
  if (first === undefined) return { text: 'Nothing more to do.' };
  const where = placeOf(first.duty.ref);
  const spaceId = request.spaces[where];
  const batch = open.filter(({ duty }) => placeOf(duty.ref) === where).slice(0, 1 + Math.floor(3 * draw()));
  const enter = request.activeSpaceId === spaceId ? [] : [{ name: 'enter_space', input: { spaceId } }];
  return { calls: [...enter, ...batch.flatMap(({ calls }) => calls)] };
}

/** All requests in messages and plans, and the answers of people. */
function dutiesOf({ agent, events }: ModelRequest): Duty[] {
  const found = events.flatMap(({ type, data }): Duty[] => {
    if (type === 'tool_result') return answeredDuty(data.input);
    const text = type === 'plan' ? `${agent}: ${data.instruction}` : type === 'space_message' ? String(data.text) : '';
    const [, name, what = '', ref = ''] = /^(\w+): (\w+) (\S+)$/.exec(text) ?? [];
    return name === agent ? [{ what, ref }] : [];
  });
  return found.filter(({ ref }, index) => found.findIndex((other) => other.ref === ref) === index);
}

/** An approved call is named without its input. */
function answeredDuty(input: unknown): Duty[] {
  const { ref } = (input ?? {}) as { ref?: unknown };
  return typeof ref === 'string' ? [{ what: 'answer', ref }] : [];
}

function nextCalls(request: ModelRequest, { what, ref }: Duty, draw: () => number): NonNullable<Reply['calls']> {
  if (isAnswered(request, ref) || isSummed(request, ref)) return [];
  const answer = { name: 'send_message', input: { text: answerText(ref) } };
  if (what === 'answer' || isAnsweredCard(request, ref)) return [answer];
  const call = { name: what, input: { ref } };
  if (isInDoubt(request, what, ref)) return [answer];
  if (isCalled(request, what, ref)) return isPending(request, what, ref) ? [] : [answer];
  if (ASKED.includes(what)) return [call];
  return draw() < 0.5 ? [call, answer] : [call];
}

function isAnsweredCard({ events }: ModelRequest, ref: string): boolean {
  return events.some(
    ({ type, data }) => type === 'tool_result' && answeredDuty(data.input).some((duty) => duty.ref === ref),
  );
}

/** The run failed while the call ran. Its result says so, and no answer to it comes later. */
function isInDoubt({ calls }: ModelRequest, what: string, ref: string): boolean {
  return calls.some((call) => isFor(call, what, ref) && /whether it took effect is unknown/.test(call.result));
}

/** A call whose result says that it was cancelled does not count, so it is made again. */
function isCalled({ calls }: ModelRequest, what: string, ref: string): boolean {
  return calls.some((call) => isFor(call, what, ref) && !/^(cancelled|skipped)/i.test(call.result));
}

/** The summary says that it was answered, although that is no longer shown. */
function isSummed({ said }: ModelRequest, ref: string): boolean {
  return [...said.matchAll(/Answered: ([\w ]*)\./g)].some(([, refs = '']) => refs.split(' ').includes(ref));
}

/** The answer comes later, in an inbox. In a machine the call has no result until then. */
function isPending({ calls }: ModelRequest, what: string, ref: string): boolean {
  return calls.some((call) => isFor(call, what, ref) && /pending as call/i.test(call.result));
}

/** The agent has called the tool, or has given the request to its sub-agent. */
function isFor({ name, input }: ModelRequest['calls'][number], what: string, ref: string): boolean {
  return name === 'helper' ? input.task === `${what} ${ref}` : name === what && input.ref === ref;
}

type ChatMessage = ChatBody['messages'][number];

/** The request as a provider of chat completions would get it. */
function toChatBody(prompt: readonly LanguageModelV4Message[]): ChatBody {
  return { messages: prompt.flatMap(toChatMessages) };
}

function toChatMessages(message: LanguageModelV4Message): ChatMessage[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: message.content }];
    case 'user':
      return [{ role: 'user', content: textOf(message.content) }];
    case 'assistant': {
      const calls = message.content.filter((part) => part.type === 'tool-call');
      return [
        {
          role: 'assistant',
          content: textOf(message.content),
          tool_calls: calls.map(({ toolCallId, toolName, input }) => ({
            id: toolCallId,
            function: { name: toolName, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
          })),
        },
      ];
    }
    case 'tool':
      return message.content.flatMap((part) =>
        part.type === 'tool-result'
          ? [{ role: 'tool', tool_call_id: part.toolCallId, content: resultText(part.output) }]
          : [],
      );
  }
}

function textOf(content: readonly { readonly type: string }[]): string {
  return content.map((part) => (part.type === 'text' ? (part as unknown as { text: string }).text : '')).join('');
}

function resultText(output: unknown): string {
  const { value } = output as { value?: unknown };
  return typeof value === 'string' ? value : JSON.stringify(value);
}
