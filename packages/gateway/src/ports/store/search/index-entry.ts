import type { SearchEntryRow } from '../schema/tables.ts';

/** A text that is added to the index. */
export interface IndexedText extends Pick<SearchEntryRow, 'kind' | 'source_id' | 'call_id' | 'seq'> {
  /** Newer texts are found first. */
  readonly at: number;
  readonly words: readonly string[];
  /** What searches are limited by, e.g. the project. A label is `=` and letters or digits, so it is never a word. */
  readonly labels: readonly string[];
}

/** What is searched for: all of `terms` and, of each list of labels, at least one. */
export interface IndexQuery {
  readonly terms: readonly { readonly words: readonly string[]; readonly isPrefix: boolean }[];
  readonly labels: readonly (readonly string[])[];
  /** Only entries with a smaller id. */
  readonly before: number;
  readonly limit: number;
}

export type IndexEntry = Pick<SearchEntryRow, 'id' | 'kind' | 'source_id' | 'call_id' | 'seq'>;

export interface IndexAnswer {
  /** Newest first. */
  readonly entries: readonly IndexEntry[];
  /** Everything with this id or a larger one was searched. Undefined if everything was. */
  readonly searchedTo?: number;
}

/** The answer of a search that found these, and did not end for lack of time. */
export function toAnswer(entries: readonly IndexEntry[], { limit }: Pick<IndexQuery, 'limit'>): IndexAnswer {
  const last = entries.at(-1);
  return entries.length < limit || last === undefined ? { entries } : { entries, searchedTo: last.id };
}
