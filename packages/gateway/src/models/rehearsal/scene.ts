import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import { parseFrame } from '../../domain/frame.ts';
import type { InboxEvent } from '../../domain/inbox/inbox-event.ts';
import { parseInbox } from './parse-inbox.ts';

/** All that the rehearsal reads out of a request: it has no other memory. */
export interface Scene {
  /** What a cycle is about; in a conversation without an inbox, what was said last. */
  readonly topic:
    | { readonly kind: 'inbox'; readonly events: readonly InboxEvent[] }
    | { readonly kind: 'chat'; readonly text: string };
  readonly now: number;
  readonly cycle: number;
  /** Calls since the topic came up, with their results. */
  readonly steps: readonly RehearsedStep[];
  readonly tools: readonly LanguageModelV4FunctionTool[];
  /** At the start of the cycle. */
  readonly activeSpaceId: string | undefined;
  /** It answered with text, and was told to call a tool. */
  readonly isNudged: boolean;
  /** What a call of any cycle gave, by its id. */
  resultOf(callId: string): string | undefined;
}

export interface RehearsedStep {
  readonly toolName: string;
  readonly input: unknown;
  readonly text: string;
  readonly isError: boolean;
}

export function readScene({ prompt, tools = [], toolChoice }: LanguageModelV4CallOptions): Scene {
  const tag = readTag(prompt);
  const { at, ...topic } = (tag === undefined ? undefined : lastInbox(prompt, tag)) ?? lastWords(prompt);
  const after = prompt.slice(at + 1);
  const results = prompt.flatMap(resultsOf);
  return {
    ...topic,
    steps: after.flatMap(resultsOf).map((part) => toStep(part, after)),
    tools: toolChoice?.type === 'none' ? [] : tools.filter((tool) => tool.type === 'function'),
    activeSpaceId: tag === undefined ? undefined : readActiveSpace(prompt, tag),
    isNudged: isNudged(after),
    resultOf: (callId) =>
      results
        .filter(({ toolCallId }) => toolCallId === callId)
        .map(textOf)
        .at(-1),
  };
}

/** The gateway tells it after the operator's own words, so the last one counts. */
function readTag(prompt: readonly LanguageModelV4Message[]): string | undefined {
  const system = prompt.flatMap((message) => (message.role === 'system' ? [message.content] : [])).join('\n');
  return [...system.matchAll(/<inbox-([\w-]+)>/g)].at(-1)?.[1];
}

type Topic = Pick<Scene, 'topic' | 'now' | 'cycle'> & { readonly at: number };

function lastInbox(prompt: readonly LanguageModelV4Message[], tag: string): Topic | undefined {
  for (const [at, message] of [...prompt.entries()].reverse()) {
    const inbox = textsOf(message)
      .map((text) => parseInbox(text, tag))
      .find((one) => one !== undefined);
    if (inbox === undefined) continue;
    const events = inbox.events.map(({ event }) => event);
    return { at, topic: { kind: 'inbox', events }, now: inbox.now, cycle: inbox.cycle };
  }
  return undefined;
}

// A pure function of the request has no clock: without an inbox that tells the time, dates are of this day.
const SOME_DAY = Date.UTC(2026, 0, 1);

function lastWords(prompt: readonly LanguageModelV4Message[]): Topic {
  const words = [...prompt.entries()].map(([at, message]) => ({ at, text: textsOf(message).join('\n') }));
  const { at, text } = words.findLast((one) => one.text !== '' && !NUDGE.test(one.text)) ?? { at: -1, text: '' };
  return { at, topic: { kind: 'chat', text }, now: SOME_DAY, cycle: 0 };
}

const NUDGE = /terminating tools?\b/i;

/** A frame of ours is no reminder, although it is a user's message too. */
function isNudged(after: readonly LanguageModelV4Message[]): boolean {
  const answered = after.findIndex(
    ({ role, content }) => role === 'assistant' && !content.some(({ type }) => type === 'tool-call'),
  );
  if (answered === -1) return false;
  return after
    .slice(answered + 1)
    .some((message) => message.role === 'system' || textsOf(message).some((text) => !text.startsWith('<situation-')));
}

function readActiveSpace(prompt: readonly LanguageModelV4Message[], tag: string): string | undefined {
  const frames = prompt.flatMap(textsOf).flatMap((text) => parseFrame(text, 'situation', tag) ?? []);
  const lines = (frames.at(-1)?.lines ?? []) as { readonly about?: unknown; readonly spaceId?: unknown }[];
  const spaceId = lines.find(({ about }) => about === 'active_space')?.spaceId;
  return typeof spaceId === 'string' ? spaceId : undefined;
}

function textsOf(message: LanguageModelV4Message): readonly string[] {
  return message.role === 'user' ? message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])) : [];
}

function resultsOf(message: LanguageModelV4Message): readonly LanguageModelV4ToolResultPart[] {
  return message.role === 'tool' ? message.content.filter((part) => part.type === 'tool-result') : [];
}

function toStep(part: LanguageModelV4ToolResultPart, messages: readonly LanguageModelV4Message[]): RehearsedStep {
  const { toolCallId, toolName, output } = part;
  const isError = output.type === 'error-text' || output.type === 'error-json' || output.type === 'execution-denied';
  const input = messages.flatMap(callsOf).find((call) => call.toolCallId === toolCallId)?.input;
  return { toolName, input, text: textOf(part), isError };
}

function callsOf(message: LanguageModelV4Message): readonly LanguageModelV4ToolCallPart[] {
  return message.role === 'assistant' ? message.content.filter((part) => part.type === 'tool-call') : [];
}

function textOf({ output }: LanguageModelV4ToolResultPart): string {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'json':
    case 'error-json':
      return JSON.stringify(output.value);
    case 'execution-denied':
      return output.reason ?? 'It was denied.';
    case 'content':
      return output.value.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
    // The provider interface grows in patch releases.
    default:
      return '';
  }
}
