import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';

/** What runs here, and what is misconfigured. */
export const gatewayStatus = queryOptions({
  queryKey: ['status'],
  queryFn: ({ signal }) => client.status.get({ signal }),
  staleTime: 60_000,
});

/** True if the gateway responds, also with an error. */
export async function gatewayResponds(): Promise<boolean> {
  return await fetch('/icon.svg', { method: 'HEAD', cache: 'no-store' }).then(
    () => true,
    () => false,
  );
}
