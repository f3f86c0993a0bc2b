import type { Usage } from '@lastcall/core';
import { DEFAULT_CURRENCY, type ModelPrices } from '../../config/prices.ts';
import type { UsageRequestRow } from '../../ports/store/schema/tables.ts';
import { costOf } from '../runs/cost.ts';

/**
 * What made a request to a model: a turn of the agent, a node of its machine, a sub-agent, the summary of a long transcript, or the
 * repair of arguments. A turn of a fork is counted apart.
 */
export type UsageKind = 'turn' | 'fork' | 'machine' | 'sub-agent' | 'summary' | 'repair';

export const USAGE_KINDS: readonly UsageKind[] = ['turn', 'fork', 'machine', 'sub-agent', 'summary', 'repair'];

/** A request to a model, as it is counted. */
export interface CountedRequest {
  readonly model: string;
  readonly kind: UsageKind;
  readonly usage: Usage;
  /** 0 if the provider refused it. More than 1 for several attempts whose replies broke off. */
  readonly requests: number;
  /** The model whose price counts, if the one that answered has none. */
  readonly pricedAs?: string | undefined;
}

/** Whose request it is. */
export interface UsageOwner {
  readonly runId: string;
  readonly agentId: string;
  /** The person, or empty. */
  readonly entityId: string;
}

export interface Pricing {
  readonly prices?: ModelPrices | undefined;
  readonly currency?: string | undefined;
}

type Amounts = Pick<
  UsageRequestRow,
  | 'model'
  | 'kind'
  | 'currency'
  | 'requests'
  | 'input_tokens'
  | 'cached_tokens'
  | 'output_tokens'
  | 'cost'
  | 'unpriced'
  | 'estimated'
>;

/** The amounts of a row. The model answered perhaps another name than it was asked under. */
export function toAmounts(counted: CountedRequest, { prices, currency = DEFAULT_CURRENCY }: Pricing): Amounts {
  const { model, kind, usage, requests } = counted;
  const cost = priceFor(counted, prices);
  return {
    model: toColumn(model),
    kind,
    currency,
    requests,
    input_tokens: toCount(usage.inputTokens),
    cached_tokens: toCount(usage.cachedTokens ?? 0),
    output_tokens: toCount(usage.outputTokens),
    cost: cost ?? 0,
    unpriced: cost === undefined ? requests : 0,
    estimated: usage.estimated === true || counted.pricedAs !== undefined ? requests : 0,
  };
}

/** The cost of the request. The rehearsal asks no provider and costs nothing. */
export function priceFor(
  { model: answering, usage, pricedAs: model = answering }: Pick<CountedRequest, 'model' | 'usage' | 'pricedAs'>,
  prices: ModelPrices | undefined,
): number | undefined {
  return costOf({ model, usage }, prices) ?? (model === 'rehearsal' ? 0 : undefined);
}

/** A provider's numbers may be anything. The database takes whole numbers, and sums of them must stay exact. */
function toCount(tokens: number): number {
  return Math.min(MOST, Math.max(0, Math.round(tokens)));
}

const MOST = 1e12;

/** The name comes from the provider's package, or from a user's own model. */
function toColumn(model: string): string {
  return model.toWellFormed().replaceAll('\0', '').slice(0, 200);
}

const DAY_MS = 86_400_000;

/** The day of a time, in UTC: `2026-01-31`. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** When the next day begins, in UTC. */
export function nextDay(ms: number): number {
  return (Math.floor(ms / DAY_MS) + 1) * DAY_MS;
}
