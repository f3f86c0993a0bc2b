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
  readonly steps: readonly RehearsedStep[];
  readonly tools: readonly LanguageModelV4FunctionTool[];
  readonly activeSpaceId: unknown;
  /** It answered with text, and was told to call a tool. */
  readonly isNudged: boolean;
  /** What came of calls that others had to answer, by their ids. */
  readonly lateAnswers: ReadonlyMap<string, string>;
}

export interface RehearsedStep {
  readonly toolName: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly isError: boolean;
}

export function readScene({ prompt, tools = [], toolChoice }: LanguageModelV4CallOptions): Scene {
  // The gateway tells the tag after the operator's own words, so the last one counts.
  const system = prompt.flatMap((message) => (message.role === 'system' ? [message.content] : [])).join('\n');
  const tag = [...system.matchAll(/<inbox-([\w-]+)>/g)].at(-1)?.[1] ?? '';
  const { at, ...topic } = lastInbox(prompt, tag) ?? lastWords(prompt);
  const after = prompt.slice(at + 1);
  return {
    ...topic,
    steps: toSteps(after),
    tools: toolChoice?.type === 'none' ? [] : tools.filter((tool) => tool.type === 'function'),
    activeSpaceId: readActiveSpace(prompt, tag),
    isNudged: isNudged(after),
    lateAnswers: new Map(prompt.slice(Math.max(at, 0)).flatMap(textsOf).flatMap(toLateAnswer)),
  };
}

type Topic = Pick<Scene, 'topic' | 'now' | 'cycle'> & { readonly at: number };

function lastInbox(prompt: LanguageModelV4Prompt, tag: string): Topic | undefined {
  const isInbox = (text: string): boolean => parseInbox(text, tag) !== undefined;
  const at = prompt.findLastIndex((message) => textsOf(message).some(isInbox));
  const inbox = prompt
    .slice(at, at + 1)
    .flatMap(textsOf)
    .map((text) => parseInbox(text, tag))
    .at(0);
  return inbox && { at, topic: inbox.events.map(({ event }) => event), now: inbox.now, cycle: inbox.cycle };
}

// A pure function of the request has no clock: without an inbox that tells the time, dates are of this day.
const SOME_DAY = Date.UTC(2026, 0, 1);

function lastWords(prompt: LanguageModelV4Prompt): Topic {
  const words = prompt.map((message) => textsOf(message).join('\n'));
  const at = words.findLastIndex((text) => text !== '' && !/terminating tools?\b/i.test(text));
  return { at, topic: words[at] ?? '', now: SOME_DAY, cycle: 0 };
}

/** A frame of ours is no reminder, although it is a user's message too. */
function isNudged(after: LanguageModelV4Prompt): boolean {
  const isText = ({ role, content }: LanguageModelV4Message): boolean =>
    role === 'assistant' && !content.some(({ type }) => type === 'tool-call');
  const later = after.slice(after.findIndex(isText)).slice(1);
  const isReminder = (text: string): boolean => !text.startsWith('<situation-');
  return after.some(isText) && later.some((one) => one.role === 'system' || textsOf(one).some(isReminder));
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

function toSteps(messages: LanguageModelV4Prompt): readonly RehearsedStep[] {
  const calls = messages.flatMap((one) => (one.role === 'assistant' ? one.content : []));
  const results = messages.flatMap((one) => (one.role === 'tool' ? one.content : []));
  return results.flatMap((result) => {
    if (result.type !== 'tool-result') return [];
    const call = calls.find((one) => one.type === 'tool-call' && one.toolCallId === result.toolCallId);
    return [toStep(result, call?.type === 'tool-call' ? call.input : {})];
  });
}

function toStep({ toolName, output }: LanguageModelV4ToolResultPart, input: unknown): RehearsedStep {
  const isError = output.type === 'execution-denied' || output.type.startsWith('error-');
  return { toolName, input: input as RehearsedStep['input'], text: textOf(output), isError };
}

function textOf(output: LanguageModelV4ToolResultPart['output']): string {
  if (output.type === 'execution-denied') return output.reason ?? 'It was denied.';
  return typeof output.value === 'string' ? output.value : JSON.stringify(output.value);
}
