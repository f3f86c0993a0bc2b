import type { Connection, RequestOptions } from '../connection.ts';
import type { Operations } from '../wire.generated.ts';

type Ops = Operations;

/** Approvals that were given in advance, with `grant` of an approval. */
export interface Grants {
  list(query?: Ops['GET /api/grants']['query'], options?: RequestOptions): Promise<Ops['GET /api/grants']['answer']>;
  get(id: string, options?: RequestOptions): Promise<Ops['GET /api/grants/{id}']['answer']>;
  /** It is in effect at once, on all gateways: the next call waits for approval again. */
  revoke(id: string, options?: RequestOptions): Promise<Ops['DELETE /api/grants/{id}']['answer']>;
}

export function grants({ call }: Connection): Grants {
  return {
    list: (query, options) => call('GET /api/grants', { query, ...options }),
    get: (id, options) => call('GET /api/grants/{id}', { params: { id }, ...options }),
    revoke: (id, options) => call('DELETE /api/grants/{id}', { params: { id }, ...options }),
  };
}
