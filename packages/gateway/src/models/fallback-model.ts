import type {
  LanguageModelV4,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  SharedV4Warning,
} from '@ai-sdk/provider';
import { isUnreadable } from '@lastcall/core/internal';

/** A model of a list, by name. Finding it may fail: its key or its package may be missing. */
interface NamedModel {
  readonly name: string;
  readonly find: () => LanguageModelV4 | Promise<LanguageModelV4>;
}

/**
 * A list of models that acts as one. Each request goes to the first. If that fails before it has written anything, for a reason that
 * another model may not have (overload, an error of the provider, an unknown model, a missing key, a request that is too long), the next
 * one is asked. A reply says in its warnings which models failed, and why. `provider` and `modelId` are those of the model that answered
 * last.
 */
export function fallbackModel(models: readonly NamedModel[], first: LanguageModelV4): LanguageModelV4 {
  let answering = first;
  const ask = async <T>(
    send: (model: LanguageModelV4) => Promise<T>,
  ): Promise<{ answer: T; failed: SharedV4Warning[] }> => {
    const failed: SharedV4Warning[] = [];
    for (const [index, { name, find }] of models.entries()) {
      try {
        const model = await find();
        const answer = await send(model);
        answering = model;
        return { answer, failed };
      } catch (error) {
        if (index === models.length - 1 || !mayDifferElsewhere(error)) throw error;
        failed.push({ type: 'other', message: `${name} was asked first and failed: ${reasonOf(error)}` });
      }
    }
    throw new Error('A list of models is empty.');
  };
  return {
    specificationVersion: 'v4',
    get provider() {
      return answering.provider;
    },
    get modelId() {
      return answering.modelId;
    },
    get supportedUrls() {
      return answering.supportedUrls;
    },
    async doGenerate(options) {
      const { answer, failed } = await ask(async (model) => await model.doGenerate(options));
      return { ...answer, warnings: [...failed, ...(answer.warnings ?? [])] };
    },
    async doStream(options) {
      const { answer, failed } = await ask(async (model) => await begun(await model.doStream(options)));
      return { ...answer, stream: withWarnings(answer.stream, failed) };
    },
  };
}

/** Reads until the model has written something, so that an error before that is thrown here, where another model can still be asked. */
async function begun({ stream, ...result }: LanguageModelV4StreamResult): Promise<LanguageModelV4StreamResult> {
  const reader = stream.getReader();
  const read: LanguageModelV4StreamPart[] = [];
  let isDone = false;
  while (!isDone && !read.some(isWritten)) {
    const next = await reader.read();
    isDone = next.done;
    if (next.value?.type === 'error' && !isUnreadable(next.value.error)) {
      await reader.cancel().catch(() => {});
      throw next.value.error;
    }
    if (next.value !== undefined) read.push(next.value);
  }
  const rest = new ReadableStream<LanguageModelV4StreamPart>({
    start(controller) {
      for (const part of read) controller.enqueue(part);
      if (isDone) controller.close();
    },
    async pull(controller) {
      const next = await reader.read();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { ...result, stream: rest };
}

/** Parts that come before a model has written anything. */
const BEFORE: ReadonlySet<string> = new Set(['stream-start', 'response-metadata', 'raw', 'error']);

function isWritten({ type }: LanguageModelV4StreamPart): boolean {
  return !BEFORE.has(type);
}

function withWarnings(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  warnings: SharedV4Warning[],
): ReadableStream<LanguageModelV4StreamPart> {
  if (warnings.length === 0) return stream;
  return stream.pipeThrough(
    new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
      start: (controller) => controller.enqueue({ type: 'stream-start', warnings }),
    }),
  );
}

const STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 404, 408, 409, 413, 425, 429]);

/** False for an abort, and for a request that every model would refuse. */
function mayDifferElsewhere(error: unknown): boolean {
  const { name, statusCode, isRetryable, message } = (error ?? {}) as Readonly<Record<string, unknown>>;
  if (name === 'AbortError') return false;
  if (typeof statusCode !== 'number') return true;
  if (statusCode >= 500 || STATUSES.has(statusCode) || isRetryable === true) return true;
  return statusCode === 400 && /context|too (long|many tokens|large)|maximum/i.test(String(message));
}

function reasonOf(error: unknown): string {
  const { statusCode, message } = (error ?? {}) as Readonly<Record<string, unknown>>;
  const status = typeof statusCode === 'number' ? `status ${statusCode}, ` : '';
  return `${status}${String(message ?? error)}`.slice(0, 300);
}
