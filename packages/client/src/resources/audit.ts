import type { Connection, RequestOptions } from '../connection.ts';
import type { Operations } from '../wire.generated.ts';

type Entries = Operations['GET /api/audit'];

/** Who changed what. */
export interface Audit {
  /** A page of entries, newest first. */
  list(query?: Omit<NonNullable<Entries['query']>, 'format'>, options?: RequestOptions): Promise<Entries['answer']>;
}

export function audit({ call }: Connection): Audit {
  return { list: (query, options) => call('GET /api/audit', { query, ...options }) };
}
