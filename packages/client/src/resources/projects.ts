import type { Connection, RequestOptions } from '../connection.ts';
import type { Operations } from '../wire.generated.ts';

type Ops = Operations;

/** Projects. A key of a project sees that one alone. */
export interface Projects {
  list(
    query?: Ops['GET /api/projects']['query'],
    options?: RequestOptions,
  ): Promise<Ops['GET /api/projects']['answer']>;
  create(
    project: Ops['POST /api/projects']['body'],
    options?: RequestOptions,
  ): Promise<Ops['POST /api/projects']['answer']>;
  get(id: string, options?: RequestOptions): Promise<Ops['GET /api/projects/{id}']['answer']>;
  update(
    id: string,
    changes: Ops['PATCH /api/projects/{id}']['body'],
    options?: RequestOptions,
  ): Promise<Ops['PATCH /api/projects/{id}']['answer']>;
  /** Refused while the project has anything in it. */
  delete(id: string, options?: RequestOptions): Promise<Ops['DELETE /api/projects/{id}']['answer']>;
}

export function projects({ call }: Connection): Projects {
  return {
    list: (query, options) => call('GET /api/projects', { query, ...options }),
    create: (body, options) => call('POST /api/projects', { body, ...options }),
    get: (id, options) => call('GET /api/projects/{id}', { params: { id }, ...options }),
    update: (id, body, options) => call('PATCH /api/projects/{id}', { params: { id }, body, ...options }),
    delete: (id, options) => call('DELETE /api/projects/{id}', { params: { id }, ...options }),
  };
}
