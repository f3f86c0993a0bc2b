import type { Connection, RequestOptions } from '../connection.ts';
import type { Operations } from '../wire.generated.ts';

/** How the gateway is set up, and what waits for an answer. */
export interface StatusResource {
  get(options?: RequestOptions): Promise<Operations['GET /api/status']['answer']>;
  /** Rejects if no gateway answers. Needs no key. */
  health(options?: RequestOptions): Promise<Operations['GET /health']['answer']>;
}

export function status({ call }: Connection): StatusResource {
  return {
    get: (options) => call('GET /api/status', options),
    health: (options) => call('GET /health', options),
  };
}
