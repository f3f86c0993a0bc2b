import type { StreamEvent } from '../../ports/bus/bus.ts';

/**
 * The text of a reply as a stream sends it: the model's text as it arrives, and at the end the run's answer if that is a
 * different text. Sent text cannot be taken back. If the model is called again for a step, only the difference is sent: the same
 * words are not repeated, and other words follow after a blank line.
 */
export class ReplyText {
  /** The text of the current step that the client has received. */
  #sent = '';
  #step: unknown;
  /** The text written since the step was restarted. Undefined if all of it was sent. */
  #again: string | undefined;
  #isEmpty = true;

  /** Returns the text to send now, perhaps none. */
  take({ type, payload }: StreamEvent): string {
    const { step, delta = '' } = payload as { readonly step?: unknown; readonly delta?: string };
    if (type === 'step.start') this.#begin(step);
    return type === 'text.delta' ? this.#write(delta) : '';
  }

  /** Returns the rest of the answer. */
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
