import type { Connection, RequestOptions } from '../connection.ts';
import type { Operations } from '../wire.generated.ts';

type Ops = Operations;

/** Tools of every source, and the registry. */
export interface Tools {
  list(query?: Ops['GET /api/tools']['query'], options?: RequestOptions): Promise<Ops['GET /api/tools']['answer']>;
  get(id: string, options?: RequestOptions): Promise<Ops['GET /api/tools/{id}']['answer']>;
  create(tool: Ops['POST /api/tools']['body'], options?: RequestOptions): Promise<Ops['POST /api/tools']['answer']>;
  update(
    id: string,
    change: Ops['PATCH /api/tools/{id}']['body'],
    options?: RequestOptions,
  ): Promise<Ops['PATCH /api/tools/{id}']['answer']>;
  delete(id: string, options?: RequestOptions): Promise<void>;
  /** Runs a tool once, with its effects. */
  test(
    id: string,
    trial: Ops['POST /api/tools/{id}/test']['body'],
    options?: RequestOptions,
  ): Promise<Ops['POST /api/tools/{id}/test']['answer']>;
}

export function tools({ call }: Connection): Tools {
  return {
    list: (query, options) => call('GET /api/tools', { query, ...options }),
    get: (id, options) => call('GET /api/tools/{id}', { params: { id }, ...options }),
    create: (body, options) => call('POST /api/tools', { body, ...options }),
    update: (id, body, options) => call('PATCH /api/tools/{id}', { params: { id }, body, ...options }),
    async delete(id, options) {
      await call('DELETE /api/tools/{id}', { params: { id }, ...options });
    },
    test: (id, body, options) => call('POST /api/tools/{id}/test', { params: { id }, body, ...options }),
  };
}
