import type { Connection, RequestOptions } from '../connection.ts';
import type { Operations } from '../wire.generated.ts';

type Search = Operations['GET /api/search'];

/** Finds messages, inputs, outputs and errors by their words, newest first. */
export type SearchTexts = (query: Search['query'], options?: RequestOptions) => Promise<Search['answer']>;

export function search({ call }: Connection): SearchTexts {
  return (query, options) => call('GET /api/search', { query, ...options });
}
