import type { Connection, RequestOptions } from '../connection.ts';
import type { Erasure, Operations } from '../wire.generated.ts';

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
  /**
   * Deletes a person or a service, and orders the erasure of what they wrote. `erasures.get` shows its progress. This cannot be undone.
   */
  delete(id: string, options?: RequestOptions): Promise<Erasure>;
  /** Everything that is stored about a person and by them: one object after the other, whose `type` says what it is. */
  export(id: string, options?: Pick<RequestOptions, 'signal'>): AsyncIterable<ExportedLine>;
  /** A token with which the entity acts for itself. */
  token(
    id: string,
    lifetime?: Ops['POST /api/entities/{id}/token']['body'],
    options?: RequestOptions,
  ): Promise<Ops['POST /api/entities/{id}/token']['answer']>;
}

/** A line of an export. */
export interface ExportedLine {
  readonly type: string;
  readonly [field: string]: unknown;
}

export function entities({ call, lines }: Connection): Entities {
  return {
    list: (query, options) => call('GET /api/entities', { query, ...options }),
    get: (id, options) => call('GET /api/entities/{id}', { params: { id }, ...options }),
    create: (body, options) => call('POST /api/entities', { body, ...options }),
    delete: (id, options) => call('DELETE /api/entities/{id}', { params: { id }, ...options }),
    export: (entityId, options) => lines('/api/export', { entityId }, options) as AsyncIterable<ExportedLine>,
    token: (id, body, options) => call('POST /api/entities/{id}/token', { params: { id }, body, ...options }),
  };
}
