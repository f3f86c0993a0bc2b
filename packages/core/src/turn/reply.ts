import type { LanguageModelV4Content, LanguageModelV4FinishReason } from '@ai-sdk/provider';
import { type ReadArguments, readArguments } from '../dispatch/read-arguments.ts';
import type { ModelReply } from '../model/model-reply.ts';
import type { NewId } from '../new-id.ts';
import { toBase64 } from '../to-base64.ts';
import type { AssistantContent, FinishReason, ReplyEntry, RequestedCall } from '../transcript/entry.ts';

/** A reply as an entry, and the parsed arguments of its calls, in order. */
export interface ReadReply {
  readonly entry: ReplyEntry;
  readonly inputs: readonly ReadArguments[];
}

/** Which model was asked for a reply, and when. */
interface Asked extends Required<Pick<ReplyEntry, 'step' | 'provider' | 'model' | 'startedAt' | 'endedAt'>> {
  readonly newId: NewId;
  /** True if system messages after the first were sent as user messages. */
  readonly systemAsUser: boolean;
}

/**
 * A reply as an entry: its calls under our own ids, its parts as the provider will get them back, metadata unchanged.
 */
export function readReply(reply: ModelReply, asked: Asked): ReadReply {
  const { newId, step, provider, model, startedAt, endedAt } = asked;
  const results = providedResults(reply.content);
  const content: AssistantContent = [];
  const calls: RequestedCall[] = [];
  const inputs: ReadArguments[] = [];
  let text = '';
  for (const part of reply.content) {
    if (part.type === 'tool-call') {
      const ran = part.providerExecuted === true ? results?.get(part.toolCallId)?.shift() : undefined;
      const call = toCall(part, ran, reply.callIds, newId);
      const input = readArguments(call.input);
      calls.push(call);
      inputs.push(input);
      content.push(toCallPart(part, call, input));
      continue;
    }
    if (part.type === 'text') text += part.text;
    const shown = toAssistantPart(part);
    if (shown !== undefined) content.push(shown);
  }
  const { usage, warnings, attempts = 1 } = reply;
  const finishReason = toFinishReason(reply.finishReason);
  const entry: { -readonly [K in keyof ReplyEntry]: ReplyEntry[K] } = {
    kind: 'reply',
    step,
    content,
    calls,
    text,
    finishReason,
    usage,
    provider,
    model,
    startedAt,
    endedAt,
    attempts,
  };
  if (asked.systemAsUser) entry.systemAsUser = true;
  if (warnings !== undefined) entry.warnings = warnings.map(toWarning);
  return { entry, inputs };
}

/** One sentence, or the beginning of one: what providers say differs, and grows with their releases. */
function toWarning(warning: NonNullable<ModelReply['warnings']>[number]): string {
  const { type, feature, setting, message, details } = warning as Readonly<Record<string, unknown>>;
  const said = [`${String(type)}:`, feature ?? setting ?? message, details].filter((one) => one !== undefined);
  return said.join(' ').slice(0, 500);
}

type ToolCallContent = Extract<LanguageModelV4Content, { type: 'tool-call' }>;
type Provided = NonNullable<RequestedCall['provided']>;

/** The results of calls that the provider ran itself, in order: several may have the same id. */
function providedResults(content: ModelReply['content']): Map<string, Provided[]> | undefined {
  let results: Map<string, Provided[]> | undefined;
  for (const part of content) {
    if (part.type !== 'tool-result' || part.preliminary === true) continue;
    results ??= new Map();
    const given = { result: part.result, isError: part.isError === true };
    results.set(part.toolCallId, [...(results.get(part.toolCallId) ?? []), given]);
  }
  return results;
}

function toCall(
  part: ToolCallContent,
  provided: Provided | undefined,
  streamed: Map<string, string[]> | undefined,
  newId: NewId,
): RequestedCall {
  const ran = part.providerExecuted === true;
  const callId = (ran ? undefined : streamed?.get(part.toolCallId)?.shift()) ?? newId();
  const input = typeof part.input === 'string' ? part.input : (JSON.stringify(part.input) ?? '');
  const toolName = String(part.toolName);
  const call: { -readonly [K in keyof RequestedCall]: RequestedCall[K] } = { callId, toolName, input };
  if (part.toolCallId) call.providerCallId = String(part.toolCallId);
  if (ran) call.provided = provided ?? { result: 'The provider gave no result.', isError: true };
  return call;
}

function toCallPart(part: ToolCallContent, call: RequestedCall, input: ReadArguments): AssistantContent[number] {
  const shown: AssistantContent[number] = {
    type: 'tool-call',
    // A call that the provider ran itself keeps the provider's id when it is sent back, because its result refers to
    // that id.
    toolCallId: part.providerExecuted === true ? String(part.toolCallId ?? '') : call.callId,
    toolName: call.toolName,
    // Providers refuse arguments that are not an object; the entry has the model's text, and the result says why it
    // failed.
    input: 'value' in input ? input.value : {},
  };
  if (typeof part.providerExecuted === 'boolean') shown.providerExecuted = part.providerExecuted;
  return isObject(part.providerMetadata) ? { ...shown, ...metadata(part) } : shown;
}

function toAssistantPart(part: LanguageModelV4Content): AssistantContent[number] | undefined {
  switch (part.type) {
    case 'text':
      // Providers send blank texts, and refuse to receive them.
      return part.text.trim() === '' && !isObject(part.providerMetadata)
        ? undefined
        : { type: 'text', text: part.text, ...metadata(part) };
    case 'reasoning':
      return { type: 'reasoning', text: part.text ?? '', ...metadata(part) };
    case 'tool-result':
      if (part.preliminary === true) return undefined;
      return {
        type: 'tool-result',
        toolCallId: String(part.toolCallId ?? ''),
        toolName: String(part.toolName),
        output: { type: part.isError === true ? 'error-json' : 'json', value: part.result },
        ...metadata(part),
      };
    case 'custom':
      if (ENVELOPES.has(part.kind)) return undefined;
      return { type: 'custom', kind: part.kind, ...metadata(part) };
    case 'file':
    case 'reasoning-file':
      return toFilePart(part);
    // Sources and new parts from patch releases are not sent back.
    default:
      return undefined;
  }
}

type FileContent = Extract<LanguageModelV4Content, { type: 'file' | 'reasoning-file' }>;

/** Bytes as text, because a transcript is plain data. A file that is only a URL must be kept by the host. */
function toFilePart(part: FileContent): AssistantContent[number] | undefined {
  const { type, mediaType, data } = part;
  if (data.type !== 'data') return undefined;
  return { type, mediaType, data: { type: 'data', data: toBase64(data.data) }, ...metadata(part) };
}

// Parts about the response as a whole, which a provider streams and ignores when they are sent back.
const ENVELOPES: ReadonlySet<string> = new Set(['anthropic.message_start']);

/** Some providers say null where they have none. A transcript with it could not be read back. */
function metadata({ providerMetadata }: { providerMetadata?: unknown }): { providerOptions?: never } {
  return isObject(providerMetadata) ? { providerOptions: providerMetadata as never } : {};
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
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
