import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
} from '@ai-sdk/provider';
import { LastcallError } from '../errors.ts';
import { streamResult } from '../model/stream-result.ts';

/** A call that a scripted reply asks for. */
export interface ScriptedCall {
  readonly toolName: string;
  /** An object, or the text as the model would write it. */
  readonly input?: unknown;
  readonly toolCallId?: string;
}

/** A scripted model's reply in a step: text, calls, a whole result, an error to throw, or a function of the request. */
export type ScriptedReply =
  | string
  | ScriptedCall
  | readonly ScriptedCall[]
  | (Partial<Pick<LanguageModelV4GenerateResult, 'usage'>> & {
      /** `'length'` is short for `{ unified: 'length', raw: 'length' }`. */
      readonly finishReason?: LanguageModelV4FinishReason | LanguageModelV4FinishReason['unified'];
      readonly text?: string;
      readonly calls?: readonly ScriptedCall[];
      readonly content?: readonly LanguageModelV4Content[];
    })
  | Error
  | ((request: LanguageModelV4CallOptions, invocation: number) => ScriptedReply | Promise<ScriptedReply>);

export interface ScriptedModel extends LanguageModelV4 {
  /** The requests that it got, in order. */
  readonly requests: readonly LanguageModelV4CallOptions[];
}

/** A model that returns the scripted replies, one by one. It fails with an error if it is asked once too often. */
export function scriptedModel(
  replies:
    | readonly ScriptedReply[]
    | ((request: LanguageModelV4CallOptions, invocation: number) => ScriptedReply | Promise<ScriptedReply>),
): ScriptedModel {
  const requests: LanguageModelV4CallOptions[] = [];
  const next = async (request: LanguageModelV4CallOptions): Promise<LanguageModelV4GenerateResult> => {
    requests.push(request);
    const reply = typeof replies === 'function' ? replies : replies[requests.length - 1];
    if (reply === undefined)
      throw new LastcallError(
        'script_ended',
        `The script has ${replies.length} replies, and the model was asked once more.`,
      );
    return await toResult(reply, request, requests.length);
  };
  return {
    specificationVersion: 'v4',
    provider: 'lastcall.scripted',
    modelId: 'scripted',
    supportedUrls: {},
    requests,
    doGenerate: next,
    doStream: async (request) => ({ stream: streamResult(await next(request)) }),
  };
}

async function toResult(
  reply: ScriptedReply,
  request: LanguageModelV4CallOptions,
  invocation: number,
): Promise<LanguageModelV4GenerateResult> {
  if (typeof reply === 'function') return toResult(await reply(request, invocation), request, invocation);
  if (reply instanceof Error) throw reply;
  if (typeof reply === 'string') return whole([{ type: 'text', text: reply }], {});
  if (Array.isArray(reply))
    return whole(
      (reply as readonly ScriptedCall[]).map((call, index) => toContent(call, invocation, index)),
      {},
    );
  if ('toolName' in reply) return whole([toContent(reply, invocation, 0)], {});
  const {
    text,
    calls = [],
    content = [],
    finishReason,
    ...rest
  } = reply as Exclude<typeof reply, readonly ScriptedCall[]>;
  const ended = typeof finishReason === 'string' ? { unified: finishReason, raw: finishReason } : finishReason;
  const said: LanguageModelV4Content[] = text === undefined ? [] : [{ type: 'text', text }];
  return whole([...content, ...said, ...calls.map((call, index) => toContent(call, invocation, index))], {
    ...rest,
    ...(ended === undefined ? {} : { finishReason: ended }),
  });
}

function whole(
  content: LanguageModelV4Content[],
  rest: Partial<LanguageModelV4GenerateResult>,
): LanguageModelV4GenerateResult {
  const calls = content.some((part) => part.type === 'tool-call');
  return {
    content,
    finishReason: { unified: calls ? 'tool-calls' : 'stop', raw: undefined },
    usage: {
      inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 5, text: 5, reasoning: undefined },
    },
    warnings: [],
    ...rest,
  };
}

function toContent(
  { toolName, input = {}, toolCallId }: ScriptedCall,
  invocation: number,
  index: number,
): LanguageModelV4Content {
  return {
    type: 'tool-call',
    toolCallId: toolCallId ?? `${invocation}-${index}`,
    toolName,
    input: typeof input === 'string' ? input : JSON.stringify(input),
  };
}
