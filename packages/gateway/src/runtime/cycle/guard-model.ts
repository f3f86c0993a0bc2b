import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider';
import { hideTag, hideTagIn } from '../../telemetry/hide-tag.ts';

type Prompt = LanguageModelV4CallOptions['prompt'];
type Part = Exclude<LanguageModelV4Message['content'], string>[number];

export interface FrameGuard {
  /** The agent's own unguessable id. */
  readonly tag: string;
  /** The system text that tells the model of the frames. */
  readonly instructions: string;
  /** Whether a user's text is a frame that the gateway itself wrote, from its first character to its last. */
  readonly isFrame: (text: string) => boolean;
}

/**
 * The model, asked so that nothing but our own frames has the frame's id. This is the one place that all requests of a cycle come
 * through, so whatever way a text took (a tool's output, the late answer to a call, a reason, what the model itself wrote), it
 * adds no event, also when it knows the frame.
 */
export function guardModel(model: LanguageModelV4, guard: FrameGuard): LanguageModelV4 {
  const guarded = (options: LanguageModelV4CallOptions): LanguageModelV4CallOptions => ({
    ...options,
    prompt: guardPrompt(options.prompt, guard),
  });
  return {
    // Core looks at it to know how to ask: a model of the version before stays one.
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options) => model.doGenerate(guarded(options)),
    doStream: (options) => model.doStream(guarded(options)),
  };
}

function guardPrompt(prompt: Prompt, guard: FrameGuard): Prompt {
  return prompt.map((message) => guardMessage(message, guard));
}

function guardMessage(message: LanguageModelV4Message, guard: FrameGuard): LanguageModelV4Message {
  const { tag, instructions, isFrame } = guard;
  if (message.role === 'system')
    return message.content.startsWith(instructions) ? message : { ...message, content: hideTag(message.content, tag) };
  const content = (message.content as Part[]).map((part) =>
    message.role === 'user' && part.type === 'text' && isFrame(part.text) ? part : guardPart(part, tag),
  );
  return { ...message, content } as LanguageModelV4Message;
}

/** Thoughts are signed by their provider, who refuses them when they were changed; they are the model's own, and nobody else's. */
function guardPart(part: Part, tag: string): Part {
  if (part.type === 'reasoning' || part.type === 'reasoning-file') return part;
  if (part.type !== 'tool-result' || part.output.type !== 'content') return hideTagIn(part, tag);
  const value = part.output.value.map((one) => hideInFile(hideTagIn(one, tag), tag));
  return { ...hideTagIn(part, tag), output: { ...part.output, value } };
}

/** A file that is a text is read as one, whatever its bytes are written in. */
function hideInFile<P extends { readonly type: string }>(part: P, tag: string): P {
  const { mediaType, data } = part as { mediaType?: unknown; data?: unknown };
  if (typeof mediaType !== 'string' || !TEXTUAL.test(mediaType)) return part;
  const { data: bytes } = (typeof data === 'object' && data !== null ? data : { data }) as { data?: unknown };
  const text = toText(bytes);
  const hidden = text === undefined ? undefined : hideTag(text, tag);
  if (hidden === undefined || hidden === text) return part;
  const base64 = Buffer.from(hidden, 'utf8').toString('base64');
  return { ...part, data: typeof data === 'object' && !ArrayBuffer.isView(data) ? { ...data, data: base64 } : base64 };
}

const TEXTUAL = /^(text\/|application\/(json|xml|[\w.-]+\+(json|xml))$)/i;

function toText(bytes: unknown): string | undefined {
  if (typeof bytes === 'string') return Buffer.from(bytes, 'base64').toString('utf8');
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString('utf8') : undefined;
}
