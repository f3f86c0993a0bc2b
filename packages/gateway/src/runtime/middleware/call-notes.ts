import type { Middleware, Outcome } from '@lastcall/core';

/** What middleware did to a call. It is stored in the call's outcome as `middleware`. */
export interface CallNote {
  /** The result came from the cache. It was stored at this time. */
  readonly cache?: { readonly storedAt: number };
  /** The arguments were invalid and were repaired. The model's reply contains the original. */
  readonly repair?: { readonly by: 'rules' | 'model' };
  /** How often the tool was run. */
  readonly retry?: { readonly attempts: number };
}

/** Collects what middleware did to the calls of one run, for the transcript. */
export class CallNotes {
  readonly #notes = new Map<string, CallNote>();

  add(callId: string, note: CallNote): void {
    this.#notes.set(callId, { ...this.#notes.get(callId), ...note });
  }

  of(callId: string): CallNote {
    return this.#notes.get(callId) ?? {};
  }

  /** It must be outside all middleware that adds notes, because it writes them into the outcome. */
  get middleware(): Middleware {
    return {
      name: 'call-notes',
      outcome: (outcome, { callId }): Outcome => {
        const middleware = this.#notes.get(callId);
        this.#notes.delete(callId);
        return middleware === undefined ? outcome : Object.assign({}, outcome, { middleware });
      },
    };
  }
}
