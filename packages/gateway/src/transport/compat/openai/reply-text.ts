import type { StreamEvent } from '../../../ports/bus/bus.ts';

/**
 * The text of a reply as a stream sends it: what the model writes, as it writes it, and last what the run answered, if that is another
 * text. What was sent cannot be taken back. Where the model is asked for a step again, only what differs is sent: the same words
 * again are not, and other words follow after a blank line.
 */
export class ReplyText {
  /** Of the step that is being written: what the client has of it. */
  #sent = '';
  #step: unknown;
  /** What was written since the step was begun again. Undefined where all of it was sent. */
  #again: string | undefined;
  #isEmpty = true;

  /** Returns the text to send now, perhaps none. */
  take({ type, payload }: StreamEvent): string {
    const { step, delta = '' } = payload as { readonly step?: unknown; readonly delta?: string };
    if (type === 'step.start') this.#begin(step);
    return type === 'text.delta' ? this.#write(delta) : '';
  }

  /** Returns what is missing of the answer. */
  finish(response: string): string {
    const sent = this.#sent;
    return sent !== '' && response.startsWith(sent)
      ? this.#next(response.slice(sent.length))
      : this.#next(response, true);
  }

  #begin(step: unknown): void {
    if (step === this.#step) this.#again = '';
    else {
      this.#again = undefined;
      this.#sent = '';
    }
    this.#step = step;
  }

  #write(delta: string): string {
    if (this.#again === undefined) {
      const isFirst = this.#sent === '';
      this.#sent += delta;
      return this.#next(delta, isFirst);
    }
    this.#again += delta;
    const again = this.#again;
    if (this.#sent.startsWith(again)) return '';
    const isContinued = again.startsWith(this.#sent);
    const rest = isContinued ? again.slice(this.#sent.length) : again;
    this.#again = undefined;
    this.#sent = again;
    return this.#next(rest, !isContinued);
  }

  #next(text: string, isApart = false): string {
    const gap = isApart && !this.#isEmpty && text !== '' ? '\n\n' : '';
    if (text !== '') this.#isEmpty = false;
    return gap + text;
  }
}
