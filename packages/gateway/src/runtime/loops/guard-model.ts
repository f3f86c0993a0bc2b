import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider';
import type { PastTranscript } from '../../domain/transcript/past-transcript.ts';
import { type FrameGuard, guardMessage } from '../../telemetry/guard-message.ts';

type Part = Exclude<LanguageModelV4Message['content'], string>[number];

export interface RunGuard extends FrameGuard {
  /** The transcript of the thread. Its messages are guarded once, not in each run. */
  readonly past: Pick<PastTranscript, 'sent' | 'hasFrame'>;
}

/**
 * Wraps the model so that only our own frames contain the frame tag. All requests of a run pass through here, so no
 * text (a tool's output, a late answer, a reason, something the model wrote) can forge an event, even if its author
 * knows the tag.
 */
export function guardModel(model: LanguageModelV4, guard: RunGuard): LanguageModelV4 {
  // Each request repeats the messages of the previous one. Each message is guarded once, so the cost of a step does not
  // grow with the number of steps.
  const { past } = guard;
  const known = new WeakMap<LanguageModelV4Message, LanguageModelV4Message>();
  const guardOnce = (message: LanguageModelV4Message): { message: LanguageModelV4Message; isKept: boolean } => {
    const isKept = isRemembered(message, past);
    const guarded = known.get(message) ?? guardMessage(message, guard);
    known.set(message, guarded);
    return { message: isKept ? freezeGuarded(guarded) : guarded, isKept };
  };
  const guarded = (options: LanguageModelV4CallOptions): LanguageModelV4CallOptions => ({
    ...options,
    prompt: past.sent.next(options.prompt, guardOnce),
  });
  return {
    // Core checks the version to know how to call the model, so a model with an older version must keep it.
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options) => model.doGenerate(guarded(options)),
    doStream: (options) => model.doStream(guarded(options)),
  };
}

/**
 * True for a message that the next run sends too, and that would be guarded in the same way. The transcript's messages
 * are frozen. System messages are compared with the instructions, and a user's text with frames, of which the situation
 * differs each time.
 */
function isRemembered(message: LanguageModelV4Message, past: RunGuard['past']): boolean {
  if (message.role === 'system' || !Object.isFrozen(message)) return false;
  return message.role !== 'user' || message.content.every((part) => part.type !== 'text' || past.hasFrame(part.text));
}

/** All later runs send this message, so a model must not be able to change it. */
function freezeGuarded(message: LanguageModelV4Message): LanguageModelV4Message {
  for (const part of message.content as Part[]) Object.freeze(part);
  Object.freeze(message.content);
  return Object.freeze(message);
}
