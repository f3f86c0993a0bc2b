import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';

/** The days that a report can show. */
export const USAGE_DAYS = [7, 30, 90] as const;

export type UsageBy = 'day' | 'agent' | 'model' | 'entity' | 'kind';

/** What models were asked in the last days, today included. Days are those of UTC, as the gateway counts. */
export const usageReport = (by: UsageBy, days: number) =>
  queryOptions({
    queryKey: ['usage', by, days],
    queryFn: ({ signal }) => client.usage.get({ by, from: firstOf(days) }, { signal }),
    staleTime: 5_000,
  });

function firstOf(days: number): string {
  return new Date(client.now() - (days - 1) * 86_400_000).toISOString().slice(0, 10);
}
