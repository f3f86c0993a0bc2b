import type { Connection, RequestOptions } from '../connection.ts';
import type { Operations } from '../wire.generated.ts';

/** What an operator wants to know first. */
export interface HomeResource {
  /** Who is at work, what failed, and the figures of today and of the days before. */
  get(options?: RequestOptions): Promise<Operations['GET /api/home']['answer']>;
}

export function home({ call }: Connection): HomeResource {
  return { get: (options) => call('GET /api/home', { ...options }) };
}
