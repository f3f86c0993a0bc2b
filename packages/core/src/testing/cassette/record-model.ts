import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { Clock } from '../../clock.ts';
import { systemClock } from '../../defaults.ts';
import { type LanguageModelV3Like, liftModel } from '../../model/lift-model.ts';
import { isFolder, writeCassette } from '../../node/cassette-file.ts';
import {
  folderError,
  type Interaction,
  printCassette,
  printInteraction,
  type Reply,
  type StoredError,
  VERSION,
} from './cassette.ts';
import { hideSecrets } from './hide-secrets.ts';
import { joinHidden } from './join-hidden.ts';
import { type CassetteOptions, type NormalRequest, normalise } from './normal-request.ts';
import { toPlainJson } from './plain-json.ts';
import { mapTexts } from './volatile.ts';

export interface RecordOptions extends CassetteOptions {
  /** Default: the system's. */
  readonly clock?: Clock;
}

/**
 * The model, with every request and its reply written to a cassette. `replayModel(path)` plays them back. What was at the path is replaced.
 * A reply is in the file before its caller has read the end of it. Requests that were aborted are not recorded.
 */
export function recordModel(
  given: LanguageModelV4 | LanguageModelV3Like,
  path: string,
  options: RecordOptions = {},
): LanguageModelV4 {
  // Otherwise only the first reply, which may have cost money, could not be written.
  if (isFolder(path)) throw folderError(path);
  const model = liftModel(given);
  const recorder = new Recorder(model, path, options);
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    async doGenerate(request) {
      const recording = recorder.begin(request);
      let result: LanguageModelV4GenerateResult;
      try {
        result = await model.doGenerate(request);
      } catch (error) {
        await recording.fail(error);
        throw error;
      }
      const { request: _q, response: _r, ...reply } = result;
      await recording.end({ result: reply, ms: recording.ms() });
      return result;
    },
    async doStream(request) {
      const recording = recorder.begin(request);
      try {
        const { stream, ...rest } = await model.doStream(request);
        return { ...rest, stream: recording.tap(stream) };
      } catch (error) {
        await recording.fail(error);
        throw error;
      }
    },
  };
}

class Recorder {
  readonly #model: LanguageModelV4;
  readonly #path: string;
  readonly #options: RecordOptions;
  /** The messages are compared as texts. */
  readonly #kept: { readonly texts: readonly string[]; readonly printed: string }[] = [];
  readonly #tools = new Map<string, { readonly name: string; readonly list: unknown }>();
  #writing: Promise<void> = Promise.resolve();
  /** The write that has not begun yet, and will have all that is kept until then. */
  #next: Promise<void> | undefined;

  constructor(model: LanguageModelV4, path: string, options: RecordOptions) {
    this.#model = model;
    this.#path = path;
    this.#options = options;
  }

  begin(request: LanguageModelV4CallOptions): Recording {
    const { clock = systemClock, secrets } = this.#options;
    // Noted now, because the caller may change the messages afterwards.
    const normal = normalise(request, this.#options);
    const hide = hideSecrets(secrets);
    return new Recording({
      clock,
      signal: request.abortSignal,
      keep: (reply) => {
        const plain = toPlainJson(reply) as Reply;
        const hidden = (text: string): string => normal.ids.hideKnown(hide(text));
        const { stream } = plain;
        const whole = stream === undefined ? plain : { ...plain, stream: joinHidden(stream, hidden) };
        return this.#keep(normal, mapTexts(whole, hidden) as Reply);
      },
    });
  }

  async #keep(request: NormalRequest, reply: Reply): Promise<void> {
    const { messages, settings, tools } = request;
    const texts = messages.map((one) => JSON.stringify(one));
    const from = this.#sharedWith(texts);
    const interaction: Interaction = {
      request: {
        ...(from === undefined ? {} : { from }),
        ...(tools === undefined ? {} : { tools: this.#nameOf(tools) }),
        ...(Object.keys(settings).length === 0 ? {} : { settings }),
        messages: messages.slice(from?.[1] ?? 0),
      },
      ...reply,
    };
    this.#kept.push({ texts, printed: printInteraction(interaction) });
    this.#next ??= this.#writeAfter(this.#writing);
    await this.#next;
  }

  /** The file is written as a whole, so that replies that end meanwhile share one write: a file of many is not written once for each. */
  async #writeAfter(before: Promise<void>): Promise<void> {
    await before.catch(() => {});
    this.#next = undefined;
    this.#writing = this.#write();
    await this.#writing;
  }

  /** The earlier request that begins with most of these messages. */
  #sharedWith(texts: readonly string[]): readonly [number, number] | undefined {
    let best: readonly [number, number] | undefined;
    for (const [index, kept] of this.#kept.entries()) {
      let shared = 0;
      while (shared < texts.length && kept.texts[shared] === texts[shared]) shared++;
      if (shared > (best?.[1] ?? 0)) best = [index + 1, shared];
    }
    return best;
  }

  #nameOf(list: unknown): string {
    const key = JSON.stringify(list);
    const known = this.#tools.get(key) ?? { name: `t${this.#tools.size + 1}`, list };
    this.#tools.set(key, known);
    return known.name;
  }

  async #write(): Promise<void> {
    const { provider, modelId } = this.#model;
    const head = {
      cassette: VERSION,
      model: { provider, modelId },
      tools: Object.fromEntries([...this.#tools.values()].map(({ name, list }) => [name, list])),
    } as const;
    const interactions = this.#kept.map(({ printed }) => printed);
    await writeCassette(this.#path, printCassette(head, interactions));
  }
}

interface RecordingOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  readonly keep: (reply: Reply) => Promise<void>;
}

/** One request and its reply. */
class Recording {
  readonly #options: RecordingOptions;
  readonly #start: number;

  constructor(options: RecordingOptions) {
    this.#options = options;
    this.#start = options.clock.now();
  }

  ms(): number {
    return this.#options.clock.now() - this.#start;
  }

  async end(reply: Reply): Promise<void> {
    await this.#options.keep(reply);
  }

  async fail(error: unknown): Promise<void> {
    if (!this.#isAborted()) await this.end({ error: toStored(error), ms: this.ms() });
  }

  /**
   * The stream, which is recorded when it ends, when it breaks, or when its reader stops reading, as a reader does after an error. Raw chunks
   * of the provider are left out: they are not asked for.
   */
  tap(stream: ReadableStream<LanguageModelV4StreamPart>): ReadableStream<LanguageModelV4StreamPart> {
    const parts: [number, LanguageModelV4StreamPart][] = [];
    const reader = stream.getReader();
    return new ReadableStream({
      pull: async (controller) => {
        const read = await reader.read().catch(async (error: unknown) => {
          if (!this.#isAborted()) await this.end({ stream: parts, error: toStored(error), ms: this.ms() });
          throw error;
        });
        if (read.done) {
          await this.end({ stream: parts });
          return controller.close();
        }
        const part = read.value;
        if (part?.type !== 'raw') parts.push([this.ms(), part?.type === 'error' ? storedPart(part) : part]);
        controller.enqueue(part);
      },
      cancel: async (reason) => {
        if (!this.#isAborted()) await this.end({ stream: parts });
        await reader.cancel(reason);
      },
    });
  }

  #isAborted(): boolean {
    return this.#options.signal?.aborted === true;
  }
}

function storedPart(part: Extract<LanguageModelV4StreamPart, { type: 'error' }>): LanguageModelV4StreamPart {
  return { ...part, error: part.error instanceof Error ? toStored(part.error) : part.error };
}

function toStored(error: unknown): StoredError {
  const { name, message, statusCode, isRetryable, responseHeaders } = (
    error instanceof Error ? error : { name: 'Error', message: String(error) }
  ) as Error & Partial<StoredError>;
  const headers = Object.entries(responseHeaders ?? {}).filter(([key]) => /^retry-after(-ms)?$/i.test(key));
  return {
    name,
    message,
    ...(typeof statusCode === 'number' ? { statusCode } : {}),
    ...(typeof isRetryable === 'boolean' ? { isRetryable } : {}),
    ...(headers.length === 0 ? {} : { responseHeaders: Object.fromEntries(headers) }),
  };
}
