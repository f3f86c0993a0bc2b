import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { Clock } from '../../clock.ts';
import { systemClock } from '../../defaults.ts';
import { streamResult } from '../../model/stream-result.ts';
import { isFolder, readCassetteFile } from '../../node/cassette-file.ts';
import {
  type Cassette,
  CassetteError,
  folderError,
  type Interaction,
  type Reply,
  readCassette,
  type StoredError,
} from './cassette.ts';
import { collectParts } from './collect-parts.ts';
import { type CassetteOptions, type NormalRequest, normalise } from './normal-request.ts';
import { diffOf, nearestOf } from './request-diff.ts';
import { mapTexts } from './volatile.ts';

export interface ReplayOptions extends CassetteOptions {
  /** `recorded`: replies take as long as they did. Default `none`: they come at once. */
  readonly timing?: 'none' | 'recorded';
  /** Default: the system's. */
  readonly clock?: Clock;
}

/**
 * A model that plays a cassette back. Requests may come in any order and at the same time: each gets the reply that was recorded for it. A
 * request that was recorded several times gets the replies in the order of the recording. One that was not recorded fails, with what differs
 * from the nearest one that was.
 */
export function replayModel(path: string, options: ReplayOptions = {}): LanguageModelV4 {
  const tape = openTape(path);
  const find = (request: LanguageModelV4CallOptions): Found => tape.find(normalise(request, options));
  const { clock = systemClock, timing = 'none' } = options;
  const wait = async (ms: number, signal: AbortSignal | undefined): Promise<void> => {
    if (timing === 'recorded' && ms > 0) await clock.sleep(ms, signal);
    signal?.throwIfAborted();
  };
  return {
    specificationVersion: 'v4',
    // The view of a transcript depends on the provider.
    ...tape.model,
    supportedUrls: {},
    async doGenerate(request) {
      const { reply } = find(request);
      await wait(reply.ms ?? reply.stream?.at(-1)?.[0] ?? 0, request.abortSignal);
      if (reply.error !== undefined) throw toError(reply.error);
      return reply.result ?? collectParts((reply.stream ?? []).map(([, part]) => revive(part)));
    },
    async doStream(request) {
      const { reply } = find(request);
      if (reply.stream === undefined) await wait(reply.ms ?? 0, request.abortSignal);
      if (reply.stream === undefined && reply.error !== undefined) throw toError(reply.error);
      const stream =
        reply.stream === undefined
          ? streamResult(reply.result as LanguageModelV4GenerateResult, request.abortSignal)
          : play(reply, (ms) => wait(ms, request.abortSignal));
      return { stream };
    },
  };
}

function play(
  { stream: parts = [], error }: Reply,
  wait: (ms: number) => Promise<void>,
): ReadableStream<LanguageModelV4StreamPart> {
  let next = 0;
  let played = 0;
  return new ReadableStream({
    async pull(controller) {
      const part = parts[next++];
      if (part === undefined && error !== undefined) throw toError(error);
      if (part === undefined) return controller.close();
      await wait(part[0] - played);
      played = part[0];
      controller.enqueue(revive(part[1]));
    },
  });
}

/** Errors inside a stream are objects of the class `Error` again. */
function revive(part: LanguageModelV4StreamPart): LanguageModelV4StreamPart {
  if (part.type !== 'error') return part;
  const { name, message } = (part.error ?? {}) as Partial<StoredError>;
  return typeof name === 'string' && typeof message === 'string'
    ? { ...part, error: toError(part.error as StoredError) }
    : part;
}

/** An error with the fields that say whether to ask again. */
function toError({ name, message, ...fields }: StoredError): Error {
  return Object.assign(new Error(message), { name, ...fields });
}

interface Found {
  readonly reply: Reply;
}

function openTape(path: string): Tape {
  if (isFolder(path)) throw folderError(path);
  const text = readCassetteFile(path);
  if (text === undefined)
    throw new CassetteError(`There is no cassette at ${path}. Record one with recordModel(model, '${path}').`);
  return new Tape(readCassette(text, path), path);
}

type Recorded = Pick<NormalRequest, 'messages' | 'tools' | 'settings'> & {
  readonly key: string;
  readonly interaction: Interaction;
};

class Tape {
  readonly model: Cassette['model'];
  readonly #path: string;
  readonly #recorded: readonly Recorded[];
  /** The replies of each request that were not played yet. */
  readonly #left: Map<string, Interaction[]>;

  constructor(cassette: Cassette, path: string) {
    this.model = cassette.model;
    this.#path = path;
    this.#recorded = wholeRequests(cassette, path);
    this.#left = new Map();
    for (const { key, interaction } of this.#recorded)
      this.#left.set(key, [...(this.#left.get(key) ?? []), interaction]);
  }

  find(asked: NormalRequest): Found {
    const interaction = this.#left.get(asked.key)?.shift();
    if (interaction === undefined) throw this.#unknown(asked);
    const { request: _, ...reply } = interaction;
    return { reply: mapTexts(reply, (text) => asked.ids.show(text)) as Reply };
  }

  #unknown(asked: NormalRequest): CassetteError {
    const times = this.#recorded.filter(({ key }) => key === asked.key).length;
    if (times > 0)
      return new CassetteError(
        `${this.#path} has this request ${times === 1 ? 'once' : `${times} times`}, and it was asked once more. Record it again.`,
      );
    const nearest = nearestOf(asked, this.#recorded);
    if (nearest === undefined) return new CassetteError(`${this.#path} has no requests. Record it again.`);
    const number = this.#recorded.indexOf(nearest) + 1;
    return new CassetteError(
      `${this.#path} does not have this request. The nearest is interaction ${number} (-: recorded, +: asked now):\n${diffOf(nearest, asked)}`,
    );
  }
}

/** Requests with the messages that they share with earlier ones. */
function wholeRequests({ interactions, tools }: Cassette, path: string): readonly Recorded[] {
  const whole: Recorded[] = [];
  for (const interaction of interactions) {
    const { from, messages: own, tools: name, settings = {} } = interaction.request;
    const before = from === undefined ? [] : whole[from[0] - 1]?.messages.slice(0, from[1]);
    if (before === undefined || before.length < (from?.[1] ?? 0))
      throw new CassetteError(`${path} is damaged: interaction ${whole.length + 1} begins like one that is missing.`);
    const shown = {
      messages: [...before, ...own],
      tools: name === undefined ? undefined : tools[name],
      settings,
    };
    whole.push({ ...shown, key: JSON.stringify(shown), interaction });
  }
  return whole;
}
