import type { Connection, RequestOptions } from '../connection.ts';
import type { Operations } from '../wire.generated.ts';

type Report = Operations['GET /api/usage'];

/** What models were asked, and what it cost. */
export interface UsageResource {
  /** Requests, tokens and money, e.g. `get({ by: 'agent,day' })`. */
  get(query?: Report['query'], options?: RequestOptions): Promise<Report['answer']>;
}

export function usage({ call }: Connection): UsageResource {
  return { get: (query, options) => call('GET /api/usage', { query, ...options }) };
}
