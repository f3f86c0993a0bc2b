import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';

/** The models that agents may name. */
export const modelList = queryOptions({
  queryKey: ['models'],
  queryFn: async ({ signal }) => (await client.models.list({ signal })).items,
  staleTime: 60_000,
});
