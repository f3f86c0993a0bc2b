import type { Connection, RequestOptions } from '../connection.ts';
import type { Operations } from '../wire.generated.ts';

/** How the gateway is set up, and what waits for somebody. */
export interface StatusResource {
  get(options?: RequestOptions): Promise<Operations['GET /api/status']['answer']>;
}

export function status({ call }: Connection): StatusResource {
  return { get: (options) => call('GET /api/status', options) };
}
