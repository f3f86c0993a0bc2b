import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider';
import { type FrameGuard, guardMessage } from '../../telemetry/guard-message.ts';

/**
 * Wraps the model so that only our own frames carry the frame tag. All requests of a cycle pass through here, so no
 * text (a tool's output, a late answer, a reason, something the model wrote) can forge an event, even if its author
 * knows the tag.
 */
export function guardModel(model: LanguageModelV4, guard: FrameGuard): LanguageModelV4 {
  // A request repeats all messages of the one before. Each is guarded once, so a step does not cost more after many steps.
  const known = new WeakMap<LanguageModelV4Message, LanguageModelV4Message>();
  const guardOnce = (message: LanguageModelV4Message): LanguageModelV4Message => {
    const before = known.get(message);
    if (before !== undefined) return before;
    const guarded = guardMessage(message, guard);
    known.set(message, guarded);
    return guarded;
  };
  const guarded = (options: LanguageModelV4CallOptions): LanguageModelV4CallOptions => ({
    ...options,
    prompt: options.prompt.map(guardOnce),
  });
  return {
    // Core checks the version to know how to call the model, so an older model must keep its version.
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options) => model.doGenerate(guarded(options)),
    doStream: (options) => model.doStream(guarded(options)),
  };
}
