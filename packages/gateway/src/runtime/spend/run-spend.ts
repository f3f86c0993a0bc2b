import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { BudgetUsedUp, LastcallError, type Middleware, type Usage } from '@lastcall/core';
import { brokenOffBefore, noUsage, readUsage } from '@lastcall/core/internal';
import { DEFAULT_CURRENCY } from '../../config/prices.ts';
import { type DaySpendLimits, hasLimit, hasMoneyLimit, type SpendLimits } from '../../config/spend-limits.ts';
import { newId } from '../../domain/new-id.ts';
import { countUsage, type NewUsage } from '../../domain/usage/count-usage.ts';
import { spentInRun } from '../../domain/usage/spent.ts';
import { type CountedRequest, priceFor, type UsageKind, type UsageOwner } from '../../domain/usage/usage-row.ts';
import { completeUsage, estimateRequest } from '../../models/estimated-usage.ts';
import { wrapModel } from '../../models/wrap-model.ts';
import type { Services } from '../../ports/services.ts';
import { retryWhileUnavailable } from '../../ports/store/retry-while-unavailable.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { ActiveRun } from '../run/active-run.ts';
import { type LimitedScope, reserveRequest } from './reserve-request.ts';
import { hasDayLimit, isReached, type SpendRefusal, textForOperators } from './spend-refusal.ts';

interface SpendOptions {
  readonly services: Pick<Services, 'store' | 'limits' | 'logger' | 'prices' | 'currency'>;
  readonly run: ActiveRun;
  /** The limits of each person. */
  readonly perPerson: DaySpendLimits | undefined;
  readonly metrics: Metrics | undefined;
  readonly signal: AbortSignal;
}

/** A request to a model that is under way. */
interface Asked {
  readonly id: string;
  readonly kind: UsageKind;
  readonly model: string;
  readonly request: Request;
  readonly isReserved: boolean;
  /** The estimated money that is reserved for it. */
  readonly reserved: number;
}

type Request = Pick<LanguageModelV4CallOptions, 'prompt' | 'tools' | 'maxOutputTokens' | 'abortSignal'>;

/** An estimate of a reply, as long as none is known. */
const REPLY_TOKENS = 500;

/**
 * What a run asks of models. All requests of a run pass through here: of the turn, of a machine's nodes, of sub-agents, of turns that tools
 * run inside of their calls, and for summaries and repairs.
 *
 * 1. Replies are counted in the transaction that stores them: the journal takes what is counted with its next write.
 * 2. If the run has a spend limit, each request is checked and reserved before it is sent. If this process dies before it counts the
 *    request, the run's next worker counts the reservation.
 * 3. Without a limit, nothing is written before a request.
 */
export class RunSpend {
  readonly #options: SpendOptions;
  readonly #owner: UsageOwner;
  readonly #currency: string;
  readonly #limits: SpendLimits;
  readonly #scopes: readonly LimitedScope[];
  readonly #underWay = new Set<Asked>();
  /** How many requests with this abort signal are being counted by the middleware of their turn, or by `wrap`. */
  readonly #counting = new WeakMap<AbortSignal, number>();
  #counted: NewUsage[] = [];
  /** Reserved requests whose replies are known and perhaps not stored yet. */
  readonly #settling = new Map<string, NewUsage>();
  /** The money of this worker's requests, those under way included. */
  #cost = 0;
  /** What a worker before this one has spent in the run. It is read when it is first needed. */
  #before: Promise<number> | undefined;
  #refusal: SpendRefusal | undefined;

  constructor(options: SpendOptions) {
    const { services, run, perPerson = {} } = options;
    const { runId, agent, entityId } = run;
    this.#options = options;
    this.#owner = { runId, agentId: agent.id, entityId: entityId ?? '' };
    this.#currency = services.currency ?? DEFAULT_CURRENCY;
    this.#limits = agent.limits.spend;
    const ofAgent: LimitedScope = { scope: 'agent', id: agent.id, limits: this.#limits };
    const ofProject: LimitedScope = { scope: 'project', id: agent.project.id, limits: agent.project.spend };
    const ofPerson: LimitedScope = { scope: 'person', id: entityId ?? '', limits: perPerson };
    this.#scopes = [ofAgent, ofProject, ofPerson].filter(({ id, limits }) => id !== '' && hasDayLimit(limits));
  }

  /** Why a request was refused, if one was. */
  get refusal(): SpendRefusal | undefined {
    return this.#refusal;
  }

  /** Counts the requests of a turn, and checks the limits before each. */
  middleware(kind: UsageKind): Middleware {
    return {
      name: 'usage',
      model: async (next, request, { model }) => {
        // A reply that the caller gave asks no model.
        if (model.provider === 'lastcall.fixed') return await next();
        const asked = await this.#begin(kind, model.modelId, request);
        try {
          const reply = await this.#whileCounting(request, () => next());
          const usage = completeUsage(reply.usage, request, reply.content);
          this.#end(asked, { model: model.modelId, usage, requests: 1 });
          this.#countBrokenOff(asked, reply.brokenOff ?? 0);
          return usage === reply.usage ? reply : { ...reply, usage };
        } catch (error) {
          this.#fail(asked, error);
          throw error;
        }
      },
    };
  }

  /** The same for a model that is asked outside of a turn. */
  wrap(model: LanguageModelV4, kind: UsageKind): LanguageModelV4 {
    const counted = this.#countEach(model, kind);
    return wrapModel(model, {
      doGenerate: (options) => this.#whileCounting(options, async () => await counted.doGenerate(options)),
      doStream: (options) => this.#whileCounting(options, async () => await counted.doStream(options)),
    });
  }

  #countEach(model: LanguageModelV4, kind: UsageKind): LanguageModelV4 {
    return wrapModel(model, {
      doGenerate: async (options) => {
        const asked = await this.#begin(kind, model.modelId, options);
        try {
          const result = await model.doGenerate(options);
          const usage = completeUsage(readUsage(result.usage), options, result.content as LanguageModelV4Content[]);
          this.#end(asked, { model: model.modelId, usage, requests: 1 });
          return result;
        } catch (error) {
          this.#fail(asked, error);
          throw error;
        }
      },
      doStream: async (options) => {
        const asked = await this.#begin(kind, model.modelId, options);
        try {
          const { stream, ...result } = await model.doStream(options);
          return { ...result, stream: this.#countStream(stream, asked, model) };
        } catch (error) {
          this.#fail(asked, error);
          throw error;
        }
      },
    });
  }

  /**
   * A model of the run, which is also asked by turns that tools run inside of their calls (`ctx.runTurn`). Such a turn has none of the run's
   * middleware, so its requests are counted here. Requests are distinguished by their abort signals: each turn has its own, and summaries and
   * repairs have one too.
   */
  forTurnsInCalls(model: LanguageModelV4): LanguageModelV4 {
    const counted = this.#countEach(model, 'sub-agent');
    const asked = ({ abortSignal }: LanguageModelV4CallOptions): LanguageModelV4 =>
      abortSignal !== undefined && this.#counting.has(abortSignal) ? model : counted;
    return wrapModel(model, {
      doGenerate: async (options) => await asked(options).doGenerate(options),
      doStream: async (options) => await asked(options).doStream(options),
    });
  }

  async #whileCounting<T>({ abortSignal }: Pick<Request, 'abortSignal'>, ask: () => Promise<T>): Promise<T> {
    if (abortSignal === undefined) return await ask();
    const counting = this.#counting;
    counting.set(abortSignal, (counting.get(abortSignal) ?? 0) + 1);
    try {
      return await ask();
    } finally {
      const others = (counting.get(abortSignal) ?? 1) - 1;
      if (others === 0) counting.delete(abortSignal);
      else counting.set(abortSignal, others);
    }
  }

  /** Counts a streamed reply when it is complete. One that breaks off is estimated, like in a turn that has the run's middleware. */
  #countStream(
    stream: ReadableStream<LanguageModelV4StreamPart>,
    asked: Asked,
    model: LanguageModelV4,
  ): ReadableStream<LanguageModelV4StreamPart> {
    const content: LanguageModelV4Content[] = [];
    const cut = (): void => this.#end(asked, { ...asked, usage: estimateOf(asked), requests: 1 });
    const fail = (error: unknown): void => (content.length > 0 ? cut() : this.#fail(asked, error));
    const note = (part: LanguageModelV4StreamPart): void => {
      if (part.type === 'text-delta' || part.type === 'reasoning-delta')
        content.push({ type: 'text', text: part.delta });
      else if (part.type === 'tool-call') content.push(part);
      else if (part.type === 'error') fail(part.error);
      else if (part.type === 'finish') {
        const usage = completeUsage(readUsage(part.usage), asked.request, content);
        // Of a list of models, another one may have answered.
        this.#end(asked, { model: model.modelId, usage, requests: 1 });
      }
    };
    const reader = stream.getReader();
    return new ReadableStream({
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) {
            note(value);
            controller.enqueue(value);
            return;
          }
        } catch (error) {
          fail(error);
          throw error;
        }
        cut();
        controller.close();
      },
      async cancel(reason) {
        cut();
        await reader.cancel(reason);
      },
    });
  }

  /** What the next write counts. With `isEnd`, also requests under way: no one waits for their replies any more. */
  take({ isEnd = false }: { readonly isEnd?: boolean } = {}): readonly NewUsage[] {
    if (isEnd)
      for (const asked of [...this.#underWay]) this.#end(asked, { ...asked, usage: estimateOf(asked), requests: 1 });
    if (this.#counted.length === 0) return NOTHING;
    const counted = this.#counted;
    this.#counted = [];
    return counted;
  }

  count(tx: Tx, counted: readonly NewUsage[]): void {
    countUsage(tx, this.#owner, counted, { prices: this.#options.services.prices, currency: this.#currency });
    tx.afterCommit(() => {
      for (const { id } of counted) this.#settling.delete(id);
    });
  }

  /** Counts what no write of the run has counted: summaries, and the last requests of a run that failed or was interrupted. */
  async countRest(): Promise<void> {
    const counted = this.take({ isEnd: true });
    if (counted.length === 0) return;
    const { store, logger } = this.#options.services;
    try {
      await store.transaction(async (tx) => this.count(tx, counted));
    } catch (error) {
      logger.warn(`${counted.length} requests to models of run ${this.#owner.runId} were not counted.`, { error });
    }
  }

  #begin(kind: UsageKind, model: string, request: Request): Asked | Promise<Asked> {
    const isReserved = hasLimit(this.#limits) || this.#scopes.length > 0;
    const asked: Asked = { id: newId(Date.now()), kind, model, request, isReserved, reserved: 0 };
    if (isReserved) return this.#reserve(asked);
    this.#underWay.add(asked);
    return asked;
  }

  async #reserve(given: Asked): Promise<Asked> {
    const { services, signal } = this.#options;
    const usage = expectedUsage(given.request);
    const asked = { ...given, reserved: this.#costOf({ model: given.model, usage }) };
    const { perRun } = this.#limits;
    const before = perRun === undefined ? 0 : await this.#spentBefore();
    if (perRun !== undefined && isReached(before + this.#cost, perRun))
      throw this.#refuse({ scope: 'run', id: '', dimension: 'money', limit: perRun, spent: before + this.#cost });
    // Counted before the transaction: several nodes of a machine may ask at once.
    this.#cost += asked.reserved;
    const { prices } = services;
    const reserve = async (tx: Tx): Promise<Awaited<ReturnType<typeof reserveRequest>>> => {
      // The journal may not have stored the last reply yet, and its reservation was an estimate. What is counted twice counts once.
      this.count(tx, [...this.#settling.values()]);
      const refused = await reserveRequest(tx, {
        owner: this.#owner,
        asked: { ...asked, usage, requests: 1 },
        pricing: { prices, currency: this.#currency },
        scopes: this.#scopes,
      });
      if (refused?.isFirst === true) tx.afterCommit(() => this.#notify(refused));
      return refused;
    };
    const refused = await retryWhileUnavailable(() => services.store.transaction(reserve, { isUrgent: true }), {
      forMs: services.limits.leaseMs,
      signal,
    });
    if (refused !== undefined) {
      this.#cost -= asked.reserved;
      throw this.#refuse(refused);
    }
    this.#underWay.add(asked);
    return asked;
  }

  #spentBefore(): Promise<number> {
    const { services, run } = this.#options;
    this.#before ??= run.isTakenOver
      ? spentInRun(services.store.db, run.runId).then(({ cost }) => cost)
      : Promise.resolve(0);
    return this.#before;
  }

  /** Throws if there is a limit in money and the price is not known, or the limit is in another currency. */
  #costOf(counted: Pick<CountedRequest, 'model' | 'usage'>): number {
    const { model } = counted;
    const limits = [this.#limits, ...this.#scopes.map((one) => one.limits)];
    const other = limits.find(({ currency = this.#currency }) => currency !== this.#currency)?.currency;
    if (other !== undefined)
      throw new LastcallError(
        'spend_limit',
        `The spend limit is in ${other}, and the prices of the configuration are in ${this.#currency}. Use one currency: change the limit of the agent, the person or the project, or write currency: '${other}' beside prices.`,
      );
    const cost = priceFor(counted, this.#options.services.prices);
    if (cost === undefined && this.#hasMoneyLimit())
      throw new LastcallError(
        'spend_limit',
        `There is a spend limit in money, and the price of the model "${model}" is not configured. Write prices: { '${model}': { input: …, output: … } } into the configuration, or limit tokens with perDayTokens.`,
      );
    return cost ?? 0;
  }

  #hasMoneyLimit(): boolean {
    return hasMoneyLimit(this.#limits) || this.#scopes.some(({ limits }) => hasMoneyLimit(limits));
  }

  #end(asked: Asked, counted: Omit<CountedRequest, 'kind'>): void {
    if (!this.#underWay.delete(asked)) return;
    const { id, kind, isReserved, reserved } = asked;
    const { model, usage, requests } = counted;
    const { prices } = this.#options.services;
    // A model of a list may answer that has no price. With the price of the one that was asked, the limit still holds.
    const isPriced = !this.#hasMoneyLimit() || priceFor(counted, prices) !== undefined;
    const pricedAs = isPriced ? undefined : asked.model;
    this.#cost += (priceFor({ ...counted, pricedAs }, prices) ?? 0) - reserved;
    const ended: NewUsage = { id, kind, isReserved, model, usage, requests, pricedAs };
    if (isReserved) this.#settling.set(id, ended);
    this.#add(ended);
  }

  #add(counted: NewUsage): void {
    this.#counted.push(counted);
    const { model, usage } = counted;
    const { inputTokens: input, cachedTokens: cached = 0, outputTokens: output, estimated } = usage;
    this.#options.metrics?.tokens({ model, input, cached, output, isEstimated: estimated === true });
  }

  /** The attempts before the last one whose replies broke off. */
  #countBrokenOff({ kind, model, request }: Asked, requests: number): void {
    if (requests === 0) return;
    const usage = estimateOf({ request }, requests);
    this.#cost += priceFor({ model, usage }, this.#options.services.prices) ?? 0;
    this.#add({ id: newId(Date.now()), kind, isReserved: false, model, usage, requests });
  }

  /** A provider that refuses a request does not charge for it. One whose reply was cut off, here or there, does. */
  #fail(asked: Asked, error: unknown): void {
    const { name, code } = (error ?? {}) as Readonly<Record<string, unknown>>;
    const isCutOff =
      name === 'AbortError' ||
      code === 'cut_stream' ||
      this.#options.signal.aborted ||
      asked.request.abortSignal?.aborted === true;
    const requests = Math.max(brokenOffBefore(error), isCutOff ? 1 : 0);
    if (requests > 0) this.#end(asked, { ...asked, usage: estimateOf(asked, requests), requests });
    else if (asked.isReserved) this.#end(asked, { ...asked, usage: noUsage, requests: 0 });
    else this.#underWay.delete(asked);
  }

  #refuse(refusal: SpendRefusal): BudgetUsedUp {
    this.#refusal = refusal;
    return new BudgetUsedUp(refusal.dimension, textForOperators(refusal, this.#options.run.agent, this.#currency));
  }

  /** Once a day for each limit, also with several gateways. */
  #notify(refusal: SpendRefusal): void {
    const { services, metrics, run } = this.#options;
    const { scope, id, dimension, limit, until } = refusal;
    const details = { event: 'spend_limit', scope, agentId: run.agent.id, dimension, limit, until };
    services.logger.error(textForOperators(refusal, run.agent, this.#currency), {
      ...details,
      ...(scope === 'person' ? { entityId: id } : {}),
      ...(scope === 'project' ? { project: id } : {}),
    });
    metrics?.limitReached({ scope: scope === 'run' ? 'agent' : scope });
  }
}

const NOTHING: readonly NewUsage[] = [];

/** What is reserved for a request: its input, and a reply of a usual length. */
function expectedUsage(request: Request): Usage {
  const inputTokens = estimateRequest(request);
  const outputTokens = Math.min(request.maxOutputTokens ?? REPLY_TOKENS, REPLY_TOKENS);
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, estimated: true };
}

/** What was sent. What came back is not known. */
function estimateOf({ request }: Pick<Asked, 'request'>, requests = 1): Usage {
  const inputTokens = estimateRequest(request) * requests;
  return { inputTokens, outputTokens: 0, totalTokens: inputTokens, estimated: true };
}
