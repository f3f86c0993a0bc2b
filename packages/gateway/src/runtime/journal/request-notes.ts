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

/**
 * Records what a run's model is sent in each step, besides the conversation. This middleware is innermost, so it sees
 * the request as it is sent. Turns inside a call have separate middleware, so their requests are not recorded.
 */
export class RequestNotes {
  readonly #setup: Pick<RunSetup, 'describe'>;
  #last: { readonly step: number; readonly asked: LanguageModelV4CallOptions } | undefined;
  #observed = '';
  #before: AskedBeside | undefined;
  #answeredStep = 0;

  constructor(setup: Pick<RunSetup, 'describe'>) {
    this.#setup = setup;
  }

  /** The guard sends tools with shorter schemas, so these are recorded. */
  noting(model: Pick<LanguageModelV4, 'provider'>): Middleware {
    return {
      name: 'request-notes',
      model: (next, request, { step }) => {
        this.#last = { step, asked: { ...request, ...sentTools(request, model) } };
        return next(request);
      },
    };
  }

  /** Wraps the function and records the last text that it returned. */
  observing(observe: () => string): () => string {
    return () => {
      this.#observed = observe();
      return this.#observed;
    };
  }

  /** The request that led to the reply of this step. */
  of(step: number): NotedRequest | undefined {
    if (this.#last?.step !== step) return undefined;
    this.#answeredStep = step;
    return this.#note(this.#last.asked);
  }

  /** The last request, if no reply to it was stored. */
  unanswered(): (NotedRequest & { readonly step: number }) | undefined {
    const last = this.#last;
    return last === undefined || last.step === this.#answeredStep
      ? undefined
      : { step: last.step, ...this.#note(last.asked) };
  }

  #note(asked: LanguageModelV4CallOptions): NotedRequest {
    const { prompt, tools, abortSignal: _s, headers: _h, includeRawChunks: _r, ...settings } = asked;
    const [first] = prompt;
    const system = first?.role === 'system' ? first.content : '';
    const { hashes, texts } = this.#beside({ system, observed: this.#observed, tools, settings });
    return { request: { messages: prompt.length, ...hashes }, texts };
  }

  /** The result is nearly always the same as in the previous step. */
  #beside(given: Beside): AskedBeside {
    const before = this.#before;
    const isSame =
      before?.given.system === given.system &&
      before.given.observed === given.observed &&
      before.given.tools === given.tools &&
      isEmpty(before.given.settings) &&
      isEmpty(given.settings);
    if (isSame) return before;
    this.#before = { given, ...toTexts(given, this.#setup) };
    return this.#before;
  }
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
