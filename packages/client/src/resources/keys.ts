import type { Connection, RequestOptions } from '../connection.ts';
import type { Operations } from '../wire.generated.ts';

type Ops = Operations;

/** Secret keys. */
export interface Keys {
  list(query?: Ops['GET /api/keys']['query'], options?: RequestOptions): Promise<Ops['GET /api/keys']['answer']>;
  /** The key is in this answer only. */
  create(key: Ops['POST /api/keys']['body'], options?: RequestOptions): Promise<Ops['POST /api/keys']['answer']>;
  revoke(id: string, options?: RequestOptions): Promise<Ops['DELETE /api/keys/{id}']['answer']>;
}

export function keys({ call }: Connection): Keys {
  return {
    list: (query, options) => call('GET /api/keys', { query, ...options }),
    create: (body, options) => call('POST /api/keys', { body, ...options }),
    revoke: (id, options) => call('DELETE /api/keys/{id}', { params: { id }, ...options }),
  };
}
