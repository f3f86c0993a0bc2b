import { renderSituation, type Situation } from '../../domain/agents/describe-agent.ts';
import type { Cycle } from './cycle.ts';

/** The frames that the model reads in a cycle. Nobody but the gateway writes one. */
export class Frames {
  readonly #texts: Set<string>;
  readonly #tag: string;
  #situation: string;

  /**
   * The frames of the transcript are inboxes and summaries, which were written outside of any turn. They are collected when the cycle
   * starts, because a tool that changes the messages it sees must not be able to add one.
   */
  constructor({ transcript, situation, agent }: Cycle) {
    const texts = transcript.entries.flatMap((entry) =>
      entry.kind === 'message' && entry.message.role === 'user'
        ? entry.message.content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
        : [],
    );
    this.#texts = new Set(texts);
    this.#tag = agent.tag;
    this.#situation = this.showSituation(situation);
  }

  /** The latest situation, as the model reads it. */
  get situation(): string {
    return this.#situation;
  }

  showSituation(situation: Situation): string {
    this.#situation = renderSituation(situation, { tag: this.#tag });
    this.#texts.add(this.#situation);
    return this.#situation;
  }

  has(text: string): boolean {
    return this.#texts.has(text);
  }
}
