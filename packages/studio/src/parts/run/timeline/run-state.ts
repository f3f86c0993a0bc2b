import type { RunSearch } from '../../../data/search.ts';

/** A change of the address. `undefined` removes a parameter. */
export type RunChange = { readonly [N in keyof RunSearch]?: RunSearch[N] | undefined };

/** What of a run is shown. */
export interface RunState {
  readonly id: string;
  readonly search: RunSearch;
  /** `replace`: without a new entry in the browser's history. `runId`: another run of the task. */
  set(change: RunChange, options?: { replace?: boolean; runId?: string }): void;
  hrefOf(change: RunChange): string;
}
