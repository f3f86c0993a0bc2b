import type { Connection, RequestOptions } from '../connection.ts';
import type { Operations } from '../wire.generated.ts';

/** Models that agents may name. */
export interface Models {
  list(options?: RequestOptions): Promise<Operations['GET /api/models']['answer']>;
}

export function models({ call }: Connection): Models {
  return { list: (options) => call('GET /api/models', options) };
}
