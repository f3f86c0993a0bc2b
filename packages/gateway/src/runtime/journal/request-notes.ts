import { hash } from 'node:crypto';
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { Middleware } from '@lastcall/core';
import type { RequestSettings, RequestText, StoredRequest } from '../../domain/runs/stored-request.ts';
import { sentTools } from '../../models/model-schema.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import type { RunSetup } from '../run/run-setup.ts';

/** A request, and the texts that it refers to. */
export interface NotedRequest {
  readonly request: StoredRequest;
  readonly texts: readonly RequestText[];
}

/** The instance of a machine that sends a request, and the model that it asks. */
interface Asking {
  readonly thread: string;
  readonly model: Pick<LanguageModelV4, 'modelId' | 'provider'>;
}

interface Asked {
  readonly step: number;
  readonly asked: LanguageModelV4CallOptions;
  readonly observed: string | undefined;
  readonly by: Asking | undefined;
  isAnswered: boolean;
}

/**
 * Records what a run's model is sent in each step, besides the conversation. This middleware is innermost, so it sees
 * the request as it is sent. Turns inside a call have separate middleware, so their requests are not recorded.
 */
export class RequestNotes {
  readonly #setup: Pick<RunSetup, 'describe'>;
  /** The last request of each conversation. Instances of a machine send theirs side by side. */
  readonly #last = new Map<string | undefined, Asked>();
  readonly #before = new Map<string | undefined, AskedBeside>();
  #observed = '';

  constructor(setup: Pick<RunSetup, 'describe'>) {
    this.#setup = setup;
  }

  /** The guard sends tools with shorter schemas, so these are recorded. */
  noting(model: Pick<LanguageModelV4, 'provider'>): Middleware {
    return {
      name: 'request-notes',
      model: (next, request, { step }) => {
        this.#note({ step, asked: { ...request, ...sentTools(request, model) }, observed: undefined, by: undefined });
        return next(request);
      },
    };
  }

  /** The same for a request of a machine's instance. Each of its turns has one step. */
  noteOf(by: Asking, request: LanguageModelV4CallOptions): void {
    // What the instances observe may differ meanwhile, and it is the last message.
    const observed = this.#observed === '' ? '' : lastText(request);
    this.#note({ step: 1, asked: { ...request, ...sentTools(request, by.model) }, observed, by });
  }

  #note(asked: Omit<Asked, 'isAnswered'>): void {
    const thread = asked.by?.thread;
    // The last request is the last of the map.
    this.#last.delete(thread);
    this.#last.set(thread, { ...asked, isAnswered: false });
  }

  /** Wraps the function and records the last text that it returned. */
  observing(observe: () => string): () => string {
    return () => {
      this.#observed = observe();
      return this.#observed;
    };
  }

  /**
   * The request that led to the reply of this step. `thread`: the conversation of a machine's instance. Undefined if no model was asked,
   * because a middleware answered.
   */
  of(step: number, thread?: string): NotedRequest | undefined {
    const last = this.#last.get(thread);
    if (last === undefined || (thread === undefined ? last.step !== step : last.isAnswered)) return undefined;
    last.isAnswered = true;
    return this.#toNoted(last);
  }

  /** The last request, if no reply to it was stored. */
  unanswered(): (NotedRequest & Pick<Asked, 'step' | 'by'>) | undefined {
    const last = [...this.#last.values()].at(-1);
    if (last === undefined || last.isAnswered) return undefined;
    return { step: last.step, by: last.by, ...this.#toNoted(last) };
  }

  #toNoted({ asked, observed = this.#observed, by }: Asked): NotedRequest {
    const { prompt, tools, abortSignal: _s, headers: _h, includeRawChunks: _r, ...settings } = asked;
    const [first] = prompt;
    const system = first?.role === 'system' ? first.content : '';
    const { hashes, texts } = this.#beside({ system, observed, tools, settings }, by?.thread);
    return { request: { messages: prompt.length, ...hashes }, texts };
  }

  /** The result is nearly always the same as in the previous step. */
  #beside(given: Beside, thread: string | undefined): AskedBeside {
    const before = this.#before.get(thread);
    const isSame =
      before?.given.system === given.system &&
      before.given.observed === given.observed &&
      before.given.tools === given.tools &&
      isEmpty(before.given.settings) &&
      isEmpty(given.settings);
    if (isSame) return before;
    const made = { given, ...toTexts(given, this.#setup) };
    this.#before.set(thread, made);
    return made;
  }
}

function lastText({ prompt }: LanguageModelV4CallOptions): string {
  const last = prompt.at(-1);
  if (last?.role !== 'user' || last.content.length !== 1) return '';
  const [part] = last.content;
  return part?.type === 'text' ? part.text : '';
}

/** The parts of a request besides the conversation. */
interface Beside {
  readonly system: string;
  readonly observed: string;
  readonly tools: Tools | undefined;
  readonly settings: RequestSettings;
}

interface AskedBeside {
  readonly given: Beside;
  readonly hashes: Omit<StoredRequest, 'messages'>;
  readonly texts: readonly RequestText[];
}

function toTexts(
  { system, observed, tools, settings }: Beside,
  setup: Pick<RunSetup, 'describe'>,
): Omit<AskedBeside, 'given'> {
  const hashes: { -readonly [Name in keyof AskedBeside['hashes']]: string } = {};
  const texts: RequestText[] = [];
  const note = (name: keyof typeof hashes, text: RequestText): void => {
    hashes[name] = text.hash;
    texts.push(text);
  };
  if (system !== '') note('instructions', toText(system));
  if (observed !== '') note('observed', toText(observed));
  if (tools !== undefined) note('tools', setup.describe(tools, toText));
  if (!isEmpty(settings)) note('settings', toText(settings));
  return { hashes, texts };
}

type Tools = NonNullable<LanguageModelV4CallOptions['tools']>;

function toText(value: unknown): RequestText {
  const text = toJson(value);
  return { hash: hash('sha256', text, 'base64url'), text };
}

function isEmpty(settings: RequestSettings): boolean {
  return Object.values(settings).every((value) => value === undefined);
}
