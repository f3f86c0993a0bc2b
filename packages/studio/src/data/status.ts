import { queryOptions } from '@tanstack/react-query';

interface GatewayStatus {
  readonly model: { readonly name: string; readonly hint?: string };
}

/** What runs here, and what is set up wrong. */
export const gatewayStatus = queryOptions({
  queryKey: ['status'],
  queryFn: async ({ signal }): Promise<GatewayStatus> => {
    const response = await fetch('/api/status', { signal, credentials: 'same-origin' });
    if (!response.ok) throw new Error('The gateway does not say how it is.');
    return (await response.json()) as GatewayStatus;
  },
  staleTime: 60_000,
});
