import type { LanguageModelV4Content, LanguageModelV4FinishReason } from '@ai-sdk/provider';
import type { NewId } from '../new-id.ts';
import type { AssistantContent, FinishReason, ReplyEntry, RequestedCall } from './entry.ts';
import type { Usage } from './usage.ts';

/** What a model gave, however it came. */
export interface ModelReply {
  readonly content: readonly LanguageModelV4Content[];
  readonly finishReason: LanguageModelV4FinishReason | undefined;
  readonly usage: Usage;
  /** Ids that calls were given while they streamed in, by the provider's id, in order. */
  readonly callIds?: Map<string, string[]>;
}

/** A reply as an entry: its calls under our own ids, its parts as the provider will get them back, metadata untouched. */
export function toReplyEntry(reply: ModelReply, step: number, newId: NewId): ReplyEntry {
  const results = new Map<string, { result: unknown; isError: boolean }>();
  for (const part of reply.content) {
    if (part.type === 'tool-result' && part.preliminary !== true)
      results.set(part.toolCallId, { result: part.result, isError: part.isError === true });
  }
  const content: AssistantContent = [];
  const calls: RequestedCall[] = [];
  let text = '';
  for (const part of reply.content) {
    if (part.type === 'tool-call') {
      const call = toCall(part, results.get(part.toolCallId), reply.callIds, newId);
      calls.push(call);
      content.push(toCallPart(part, call));
      continue;
    }
    if (part.type === 'text') text += part.text;
    const shown = toAssistantPart(part);
    if (shown !== undefined) content.push(shown);
  }
  return {
    kind: 'reply',
    step,
    content,
    calls,
    text,
    finishReason: toFinishReason(reply.finishReason),
    usage: reply.usage,
  };
}

type ToolCallContent = Extract<LanguageModelV4Content, { type: 'tool-call' }>;

function toCall(
  part: ToolCallContent,
  provided: { result: unknown; isError: boolean } | undefined,
  streamed: Map<string, string[]> | undefined,
  newId: NewId,
): RequestedCall {
  const ran = part.providerExecuted === true;
  // A call the provider ran itself keeps the provider's id: its result in the same reply refers to it.
  const callId = ran ? part.toolCallId : (streamed?.get(part.toolCallId)?.shift() ?? newId());
  const input = typeof part.input === 'string' ? part.input : (JSON.stringify(part.input) ?? '');
  return {
    callId,
    toolName: String(part.toolName),
    input,
    ...(part.toolCallId ? { providerCallId: part.toolCallId } : {}),
    ...(ran ? { provided: provided ?? { result: 'The provider gave no result.', isError: true } } : {}),
  };
}

function toCallPart(part: ToolCallContent, call: RequestedCall): AssistantContent[number] {
  return {
    type: 'tool-call',
    toolCallId: call.callId,
    toolName: call.toolName,
    input: toObject(call.input),
    ...(part.providerExecuted === undefined ? {} : { providerExecuted: part.providerExecuted }),
    ...metadata(part),
  };
}

/** Providers refuse a call whose arguments are no object; what the model wrote is in the entry, and why it failed in the result. */
function toObject(input: string): unknown {
  try {
    const parsed: unknown = JSON.parse(input);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function toAssistantPart(part: LanguageModelV4Content): AssistantContent[number] | undefined {
  switch (part.type) {
    case 'text':
      // Providers write blank texts, and refuse to have them back.
      return part.text.trim() === '' && part.providerMetadata === undefined
        ? undefined
        : { type: 'text', text: part.text, ...metadata(part) };
    case 'reasoning':
      return { type: 'reasoning', text: part.text, ...metadata(part) };
    case 'tool-result':
      if (part.preliminary === true) return undefined;
      return {
        type: 'tool-result',
        toolCallId: part.toolCallId,
        toolName: part.toolName,
        output: { type: part.isError === true ? 'error-json' : 'json', value: part.result },
        ...metadata(part),
      };
    case 'custom':
      if (ENVELOPES.has(part.kind)) return undefined;
      return { type: 'custom', kind: part.kind, ...metadata(part) };
    // Sources, files and what providers add in patch releases are not sent back.
    default:
      return undefined;
  }
}

// Parts about the response as a whole, which a provider streams and takes no notice of when they come back.
const ENVELOPES: ReadonlySet<string> = new Set(['anthropic.message_start']);

function metadata(part: { providerMetadata?: unknown }): { providerOptions?: never } {
  return part.providerMetadata === undefined ? {} : { providerOptions: part.providerMetadata as never };
}

function toFinishReason(reason: LanguageModelV4FinishReason | undefined): FinishReason {
  switch (reason?.unified) {
    case 'stop':
    case 'length':
    case 'content-filter':
    case 'tool-calls':
    case 'error':
      return reason.unified;
    default:
      return 'other';
  }
}
