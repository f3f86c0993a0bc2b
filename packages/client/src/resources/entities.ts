import type { Connection, RequestOptions } from '../connection.ts';
import type { Operations } from '../wire.generated.ts';

type Ops = Operations;

/** People, agents and services. */
export interface Entities {
  list(
    query?: Ops['GET /api/entities']['query'],
    options?: RequestOptions,
  ): Promise<Ops['GET /api/entities']['answer']>;
  get(id: string, options?: RequestOptions): Promise<Ops['GET /api/entities/{id}']['answer']>;
  create(
    entity: Ops['POST /api/entities']['body'],
    options?: RequestOptions,
  ): Promise<Ops['POST /api/entities']['answer']>;
  /** A token with which the entity acts for itself. */
  token(
    id: string,
    lifetime?: Ops['POST /api/entities/{id}/token']['body'],
    options?: RequestOptions,
  ): Promise<Ops['POST /api/entities/{id}/token']['answer']>;
}

export function entities({ call }: Connection): Entities {
  return {
    list: (query, options) => call('GET /api/entities', { query, ...options }),
    get: (id, options) => call('GET /api/entities/{id}', { params: { id }, ...options }),
    create: (body, options) => call('POST /api/entities', { body, ...options }),
    token: (id, body, options) => call('POST /api/entities/{id}/token', { params: { id }, body, ...options }),
  };
}
