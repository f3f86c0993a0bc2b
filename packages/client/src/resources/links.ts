import type { Connection, RequestOptions } from '../connection.ts';
import type { Operations } from '../wire.generated.ts';

type Ops = Operations;

/** Links that sign a browser in. */
export interface Links {
  /** The link is in this answer only. */
  create(link: Ops['POST /api/links']['body'], options?: RequestOptions): Promise<Ops['POST /api/links']['answer']>;
}

export function links({ call }: Connection): Links {
  return { create: (body, options) => call('POST /api/links', { body, ...options }) };
}
