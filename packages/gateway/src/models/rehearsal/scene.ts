import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import type { InboxEvent } from '../../domain/inbox/inbox-event.ts';
import { CONFESSION } from './confession.ts';
import { type ParsedInbox, parseInboxes, shownFrame } from './parse-inbox.ts';

/** Everything that the rehearsal reads from a request. It has no other memory. */
export interface Scene {
  /** The subject of the run: the events of its inbox, or without an inbox the last message. */
  readonly topic: readonly InboxEvent[] | string;
  readonly now: number;
  /** Where the topic is in the request. Together with a number of the step, it makes the id of a call unique. */
  readonly at: number;
  /** The calls since the topic, with their results. */
  readonly steps: readonly Step[];
  readonly tools: readonly LanguageModelV4FunctionTool[];
  /** True if the host requires the model to call a tool. */
  readonly mustCall: boolean;
  readonly activeSpaceId: unknown;
  /** True if the model answered with text and was asked to call a tool. */
  readonly isNudged: boolean;
  /** True if it said before this run, in the same transcript, that it is a rehearsal. */
  readonly hasConfessed: boolean;
  /** The answers to calls that others had to answer, by call id. */
  readonly lateAnswers: ReadonlyMap<string, string>;
}

export interface Step {
  readonly toolName: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly isError: boolean;
}

export function readScene({ prompt, tools = [], toolChoice: choice }: LanguageModelV4CallOptions): Scene {
  // The gateway writes the tag after the operator's instructions, so the last one counts.
  const system = prompt.map(({ role, content }) => (role === 'system' ? content : '')).join('\n');
  const tag = [...system.matchAll(/<inbox-([\w-]+)>/g)].at(-1)?.[1] ?? '';
  const inboxes = parseInboxes(
    prompt.map((message) => textsOf(message)[0] ?? ''),
    tag,
  );
  const topic = lastInbox(inboxes) ?? lastWords(prompt, tag);
  const { at } = topic;
  const after = prompt.slice(at + 1);
  const isUsable = (name: string): boolean =>
    choice?.type !== 'none' && (choice?.type !== 'tool' || name === choice.toolName);
  return {
    ...topic,
    steps: toSteps(after),
    tools: tools.filter((tool) => tool.type === 'function').filter(({ name }) => isUsable(name)),
    mustCall: choice?.type === 'required' || choice?.type === 'tool',
    activeSpaceId:
      readActiveSpace(prompt, tag) ?? (inboxes.findLast((inbox) => inbox !== undefined)?.space.id || undefined),
    isNudged: isNudged(after),
    hasConfessed: prompt.slice(0, Math.max(at, 0)).some(confesses),
    lateAnswers: new Map(prompt.slice(Math.max(at, 0)).flatMap(textsOf).flatMap(toLateAnswer)),
  };
}

function confesses({ role, content }: LanguageModelV4Message): boolean {
  return role === 'assistant' && JSON.stringify(content).includes(CONFESSION);
}

type Topic = Pick<Scene, 'topic' | 'now' | 'at'>;

function lastInbox(inboxes: readonly (ParsedInbox | undefined)[]): Topic | undefined {
  const at = inboxes.findLastIndex((inbox) => inbox !== undefined);
  const inbox = inboxes[at];
  return inbox && { at, topic: inbox.events, now: inbox.now };
}

/** In a draft of an agent that is in spaces, the situation follows what a person said. */
function lastWords(prompt: LanguageModelV4Prompt, tag: string): Topic {
  const words = prompt.map((message) => textsOf(message).join('\n'));
  const isSituation = (text: string): boolean => tag !== '' && text.startsWith(`<situation-${tag}`);
  const at = words.findLastIndex((text) => text !== '' && !isSituation(text) && !/terminating tools?\b/i.test(text));
  // A pure function of the request has no clock: without an inbox that gives the time, this fixed date is used.
  return { at, topic: words[at] ?? '', now: Date.UTC(2026, 0, 1) };
}

/** The gateway's own frames are not reminders, although they are user messages too. */
function isNudged(after: LanguageModelV4Prompt): boolean {
  const text = after.findIndex(
    ({ role, content }) => role === 'assistant' && !content.some(({ type }) => type === 'tool-call'),
  );
  const isReminder = (one: LanguageModelV4Message): boolean =>
    one.role === 'system' || textsOf(one).some((said) => !said.startsWith('<situation-'));
  return text !== -1 && after.slice(text + 1).some(isReminder);
}

/** The active space by the name that the model is shown, e.g. `2`. `none`: it has none. Undefined if no situation says it. */
function readActiveSpace(prompt: LanguageModelV4Prompt, tag: string): string | undefined {
  const frames = prompt.flatMap(textsOf).flatMap((text) => shownFrame(text, 'situation', tag) ?? []);
  const [, name] = (frames.at(-1)?.items ?? []).flatMap((item) => ACTIVE.exec(item) ?? []);
  return name;
}

const ACTIVE = /^Active space: (none|"(?:[^"\\]|\\.)*"|[^\s(]+)/;

/** Parses the message in which core reports the answer to an earlier call. */
function toLateAnswer(text: string): [callId: string, said: string][] {
  const [, callId, said] = /^The answer to call (\S+) \(.*\) has come:\n\n(.*)$/s.exec(text) ?? [];
  return callId === undefined || said === undefined ? [] : [[callId, said]];
}

function textsOf(message: LanguageModelV4Message): readonly string[] {
  return message.role === 'user' ? message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])) : [];
}

function toSteps(messages: LanguageModelV4Prompt): readonly Step[] {
  const calls = messages.flatMap((one) => (one.role === 'assistant' ? one.content : []));
  const results = messages.flatMap((one) => (one.role === 'tool' ? one.content : []));
  const inputs = new Map(calls.map((call) => (call.type === 'tool-call' ? [call.toolCallId, call.input] : ['', {}])));
  return results.flatMap((one) => (one.type === 'tool-result' ? [toStep(one, inputs.get(one.toolCallId) ?? {})] : []));
}

function toStep({ toolName, output }: LanguageModelV4ToolResultPart, input: unknown): Step {
  const isError = output.type === 'execution-denied' || output.type.startsWith('error-');
  const said = output.type === 'execution-denied' ? (output.reason ?? 'It was denied.') : output.value;
  const text = typeof said === 'string' ? said : JSON.stringify(said);
  return { toolName, input: input as Step['input'], text, isError };
}
