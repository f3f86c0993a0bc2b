import type { Connection, RequestOptions } from '../connection.ts';
import type { Erasure, Operations } from '../wire.generated.ts';

type Ops = Operations;

/** What was ordered to be erased, and how far it is. */
export interface Erasures {
  /** Newest first. */
  list(
    query?: Ops['GET /api/erasures']['query'],
    options?: RequestOptions,
  ): Promise<Ops['GET /api/erasures']['answer']>;
  get(id: string, options?: RequestOptions): Promise<Erasure>;
}

export function erasures({ call }: Connection): Erasures {
  return {
    list: (query, options) => call('GET /api/erasures', { query, ...options }),
    get: (id, options) => call('GET /api/erasures/{id}', { params: { id }, ...options }),
  };
}
