import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import { parseFrame } from '../../domain/frame.ts';
import type { InboxEvent } from '../../domain/inbox/inbox-event.ts';
import { parseInbox } from './parse-inbox.ts';

/** All that the rehearsal reads out of a request: it has no other memory. */
export interface Scene {
  /** What the cycle is about: the events of its inbox. Without an inbox, what was said last. */
  readonly topic: readonly InboxEvent[] | string;
  readonly now: number;
  readonly cycle: number;
  /** Calls since the topic came up, with their results. */
  readonly steps: readonly Step[];
  readonly tools: readonly LanguageModelV4FunctionTool[];
  /** The host lets the model do nothing but call a tool. */
  readonly mustCall: boolean;
  readonly activeSpaceId: unknown;
  /** It answered with text, and was told to call a tool. */
  readonly isNudged: boolean;
  /** What came of calls that others had to answer, by their ids. */
  readonly lateAnswers: ReadonlyMap<string, string>;
}

export interface Step {
  readonly toolName: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly isError: boolean;
}

export function readScene({ prompt, tools = [], toolChoice: choice }: LanguageModelV4CallOptions): Scene {
  // The gateway tells the tag after the operator's own words, so the last one counts.
  const system = prompt.map(({ role, content }) => (role === 'system' ? content : '')).join('\n');
  const tag = [...system.matchAll(/<inbox-([\w-]+)>/g)].at(-1)?.[1] ?? '';
  const { at, ...topic } = lastInbox(prompt, tag) ?? lastWords(prompt);
  const after = prompt.slice(at + 1);
  const isUsable = (name: string): boolean =>
    choice?.type !== 'none' && (choice?.type !== 'tool' || name === choice.toolName);
  return {
    ...topic,
    steps: toSteps(after),
    tools: tools.filter((tool) => tool.type === 'function').filter(({ name }) => isUsable(name)),
    mustCall: choice?.type === 'required' || choice?.type === 'tool',
    activeSpaceId: readActiveSpace(prompt, tag),
    isNudged: isNudged(after),
    lateAnswers: new Map(prompt.slice(Math.max(at, 0)).flatMap(textsOf).flatMap(toLateAnswer)),
  };
}

type Topic = Pick<Scene, 'topic' | 'now' | 'cycle'> & { readonly at: number };

function lastInbox(prompt: LanguageModelV4Prompt, tag: string): Topic | undefined {
  const inboxes = prompt.map((message) => textsOf(message).flatMap((text) => parseInbox(text, tag) ?? [])[0]);
  const at = inboxes.findLastIndex((inbox) => inbox !== undefined);
  const inbox = inboxes[at];
  return inbox && { at, topic: inbox.events.map(({ event }) => event), now: inbox.now, cycle: inbox.cycle };
}

function lastWords(prompt: LanguageModelV4Prompt): Topic {
  const words = prompt.map((message) => textsOf(message).join('\n'));
  const at = words.findLastIndex((text) => text !== '' && !/terminating tools?\b/i.test(text));
  // A pure function of the request has no clock: without an inbox that tells the time, dates are of this day.
  return { at, topic: words[at] ?? '', now: Date.UTC(2026, 0, 1), cycle: 0 };
}

/** A frame of ours is no reminder, although it is a user's message too. */
function isNudged(after: LanguageModelV4Prompt): boolean {
  const text = after.findIndex(
    ({ role, content }) => role === 'assistant' && !content.some(({ type }) => type === 'tool-call'),
  );
  const isReminder = (one: LanguageModelV4Message): boolean =>
    one.role === 'system' || textsOf(one).some((said) => !said.startsWith('<situation-'));
  return text !== -1 && after.slice(text + 1).some(isReminder);
}

function readActiveSpace(prompt: LanguageModelV4Prompt, tag: string): unknown {
  const frames = prompt.flatMap(textsOf).flatMap((text) => parseFrame(text, 'situation', tag) ?? []);
  const lines = (frames.at(-1)?.lines ?? []) as { readonly about?: unknown; readonly spaceId?: unknown }[];
  return lines.find(({ about }) => about === 'active_space')?.spaceId;
}

/** How core tells of an answer to a call that the conversation has left behind. */
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
