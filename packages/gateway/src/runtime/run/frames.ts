import { renderSituation, type Situation } from '../../domain/agents/describe-agent.ts';
import { framesIn, type PastTranscript } from '../../domain/transcript/past-transcript.ts';
import type { ActiveRun } from './active-run.ts';

/** The frames that the model reads in a run. Only the gateway writes them. */
export class Frames {
  readonly #past: PastTranscript;
  readonly #texts: Set<string>;
  readonly #tag: string;
  #situation: string;

  /**
   * The frames of the run's own messages are collected when it starts, so that a tool that changes the messages it
   * sees cannot add one. Earlier frames are in the transcript.
   */
  constructor({ past, transcript, situation, agent }: ActiveRun) {
    this.#past = past;
    this.#texts = new Set(framesIn(transcript.entries.slice(past.entries)));
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
    return this.#texts.has(text) || this.#past.hasFrame(text);
  }
}
