import type { UsageItem } from '@lastcall/client';

/** The sum of all items. Its cost is null if one has none: a partial sum would look like the total. */
export function totalOf(items: readonly UsageItem[]): UsageItem {
  const none = { requests: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, cost: 0, estimated: false };
  return items.reduce<UsageItem>(
    (sum, item) => ({
      requests: sum.requests + item.requests,
      inputTokens: sum.inputTokens + item.inputTokens,
      cachedTokens: sum.cachedTokens + item.cachedTokens,
      outputTokens: sum.outputTokens + item.outputTokens,
      cost: sum.cost === null || item.cost === null || item.currency !== sum.currency ? null : sum.cost + item.cost,
      currency: sum.currency,
      estimated: sum.estimated || item.estimated,
    }),
    { ...none, currency: items[0]?.currency ?? '' },
  );
}

/** A count, with a mark if it is estimated. */
export function countInWords(tokens: number, estimated: boolean): string {
  return `${estimated ? '~' : ''}${tokens.toLocaleString()}`;
}

export function moneyInWords({
  cost,
  currency,
  estimated,
}: Pick<UsageItem, 'cost' | 'currency' | 'estimated'>): string {
  if (cost === null) return '–';
  return `${estimated ? '~' : ''}${columnAmount(cost)} ${currency}`;
}

/** Up to four decimals, so that the amounts of a column can be compared. */
function columnAmount(cost: number): string {
  if (cost > 0 && cost < LEAST) return `<${LEAST.toLocaleString(undefined, { maximumFractionDigits: 4 })}`;
  return cost.toLocaleString(undefined, { maximumFractionDigits: cost < 1 ? 4 : 2, minimumFractionDigits: 2 });
}

const LEAST = 0.0001;

/** The amount of one run or step, however small. */
export function amountInWords(cost: number): string {
  return cost.toLocaleString(undefined, cost < 1 ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 2 });
}

/** What the row is about, in words. */
export function keyInWords({ day, agent, agentName, model, entity, entityName, kind }: UsageItem): string {
  if (kind !== undefined) return KINDS[kind] ?? kind;
  if (entity === null) return 'no person';
  return day ?? agentName ?? agent ?? model ?? entityName ?? entity ?? '';
}

const KINDS: Readonly<Record<string, string>> = {
  turn: 'turns',
  machine: 'nodes of machines',
  'sub-agent': 'sub-agents',
  summary: 'summaries',
  repair: 'repairs of arguments',
};
