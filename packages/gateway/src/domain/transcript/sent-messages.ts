import type { LanguageModelV4Message } from '@ai-sdk/provider';

/**
 * The messages of a request, each with the form that was sent to the model. The next request has almost the same messages at the
 * same positions, so comparing them in order finds the known ones: looking each of them up would cost as much again as sending
 * them.
 */
export class SentMessages {
  readonly #given: LanguageModelV4Message[] = [];
  /** Undefined for messages that are not worth keeping. */
  readonly #made: (LanguageModelV4Message | undefined)[] = [];

  /** The messages in the form for the model. `make` converts those that are new, and says which of them are worth keeping. */
  next(
    given: readonly LanguageModelV4Message[],
    make: (message: LanguageModelV4Message) => Made,
  ): LanguageModelV4Message[] {
    // Every message of a long transcript passes here in each request: only new messages may cost more than a comparison.
    const sent = this.#made.slice(0, given.length) as LanguageModelV4Message[];
    for (let at = 0; at < given.length; at++) {
      const message = given[at] as LanguageModelV4Message;
      if (message !== this.#given[at] || sent[at] === undefined) sent[at] = this.#make(at, message, make);
    }
    this.#given.length = given.length;
    this.#made.length = given.length;
    return sent;
  }

  #make(
    at: number,
    given: LanguageModelV4Message,
    make: (message: LanguageModelV4Message) => Made,
  ): LanguageModelV4Message {
    const { message, isKept } = make(given);
    this.#given[at] = given;
    this.#made[at] = isKept ? message : undefined;
    return message;
  }
}

interface Made {
  readonly message: LanguageModelV4Message;
  readonly isKept: boolean;
}
