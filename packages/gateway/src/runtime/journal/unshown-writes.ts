import type { OpenCard, SpaceEvent, Write } from '../run/run-write.ts';
import { isShown, shownId } from './space-audience.ts';

/**
 * What spaces do not see of a run, because the agent has left them, or because they are archived. A message or call of which nothing was
 * shown needs no end either. One that was shown in part still gets its end, and nothing before it.
 */
export class UnshownWrites {
  readonly #rawInput: (callId: string) => string;
  /** What is not shown of messages and calls, by their ids. */
  readonly #unshown = new Map<string, 'all' | 'rest'>();

  constructor(rawInput: (callId: string) => string) {
    this.#rawInput = rawInput;
  }

  /** Notes what these writes were to show in the space. */
  add(writes: readonly Write[], spaceId: string): void {
    for (const write of writes) {
      if (!isShown(write) || write.spaceId !== spaceId) continue;
      const id = shownId(write);
      if (!this.#unshown.has(id)) this.#unshown.set(id, STARTS.has(write.type) ? 'all' : 'rest');
    }
  }

  /** The writes without what is not shown. Later writes were decided as if it were. */
  without(writes: readonly Write[]): readonly Write[] {
    return this.#unshown.size === 0 ? writes : writes.flatMap((write) => this.#withoutUnshown(write));
  }

  /** The cards in the writes that are not opened, although the agent may be back in the space: the start of the call was not shown. */
  cardsIn(writes: readonly Write[]): readonly OpenCard['card'][] {
    if (this.#unshown.size === 0) return [];
    return writes.flatMap((write) =>
      write.kind === 'open-card' && this.#isAll(write.card.callId) ? [write.card] : [],
    );
  }

  #withoutUnshown(write: Write): readonly Write[] {
    switch (write.kind) {
      case 'space-event':
        return this.#isLeftOut(write) ? [] : [write];
      case 'open-card':
        return this.#isAll(write.card.callId) ? [] : [write];
      case 'pending-call': {
        const { callId } = write.call;
        // If the agent is back in the space, the card is shown with its start and its input.
        return [this.#isAll(callId) ? { ...write, rawInput: this.#rawInput(callId) } : write];
      }
      case 'post-reply': {
        const { unseen: _unseen, ...whole } = write;
        return [this.#isAll(write.messageId) ? whole : write];
      }
      default:
        return [write];
    }
  }

  #isLeftOut(event: SpaceEvent): boolean {
    const unshown = this.#unshown.get(shownId(event));
    return unshown === 'all' || (unshown === 'rest' && isShown(event));
  }

  #isAll(id: string): boolean {
    return this.#unshown.get(id) === 'all';
  }
}

const STARTS: ReadonlySet<string> = new Set(['message.start', 'tool-call.start']);
