import type { Connection, RequestOptions } from '../connection.ts';
import type { Operations } from '../wire.generated.ts';

type Ops = Operations;

/** Links that sign a browser in. */
export interface Links {
  /** The link is in this answer only. */
  create(link: Ops['POST /api/links']['body'], options?: RequestOptions): Promise<Ops['POST /api/links']['answer']>;
  /** Those that still work, without their codes. */
  list(query?: Ops['GET /api/links']['query'], options?: RequestOptions): Promise<Ops['GET /api/links']['answer']>;
  revoke(id: string, options?: RequestOptions): Promise<Ops['DELETE /api/links/{id}']['answer']>;
}

export function links({ call }: Connection): Links {
  return {
    create: (body, options) => call('POST /api/links', { body, ...options }),
    list: (query, options) => call('GET /api/links', { query, ...options }),
    revoke: (id, options) => call('DELETE /api/links/{id}', { params: { id }, ...options }),
  };
}
