import type { LanguageModelV4Message } from '@ai-sdk/provider';

/**
 * Messages of a request, and what was made of each for the model. The next request has almost the same messages in the same places, so
 * comparing them in turn finds what is known: to look each of them up would cost as much again as sending them.
 */
export class SentMessages {
  #given: readonly LanguageModelV4Message[] = [];
  #made: readonly (LanguageModelV4Message | undefined)[] = [];

  /** What is made of these messages. `make` is asked for those that are new, and says which of them are worth keeping. */
  next(
    given: readonly LanguageModelV4Message[],
    make: (message: LanguageModelV4Message) => Made,
  ): LanguageModelV4Message[] {
    const kept: (LanguageModelV4Message | undefined)[] = [];
    const made = given.map((message, at) => {
      const known = message === this.#given[at] ? this.#made[at] : undefined;
      const { message: sent, isKept } = known === undefined ? make(message) : { message: known, isKept: true };
      kept.push(isKept ? sent : undefined);
      return sent;
    });
    this.#given = given.slice();
    this.#made = kept;
    return made;
  }
}

interface Made {
  readonly message: LanguageModelV4Message;
  readonly isKept: boolean;
}
