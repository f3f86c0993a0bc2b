import type { Entry, TurnEvent } from '@lastcall/core';
import { cutForPeople } from '../../domain/consciousness/cut-output.ts';
import { emit, spaceChannel } from '../../domain/streams/emit.ts';
import type { Services } from '../../ports/services.ts';
import { asJson, fromJson, toJson } from '../../ports/store/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { Cycle } from './cycle.ts';
import { createTextField, type TextField } from './text-field.ts';

/** A call that a space watches while the model still writes it. */
interface LiveCall {
  readonly callId: string;
  readonly kind: 'message' | 'tool';
  /** Fixed when the call became visible: entering another space later does not move it. */
  readonly spaceId: string;
  readonly field: TextField | undefined;
  /** What was shown so far of a message's text or of a tool's input. */
  shownText: string;
}

interface QueuedEvent {
  readonly spaceId: string;
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/**
 * Shows calls in the agent's space while the model writes them. The events are queued here until the next transaction
 * of the cycle writes them, so a fast model costs no extra transactions and a slow one only a few.
 */
export class LiveCalls {
  readonly #cycle: Cycle;
  readonly #services: Services;
  readonly #isVisible: (toolName: string) => boolean;
  readonly #onQueued: () => void;
  readonly #live = new Map<string, LiveCall>();
  #queue: QueuedEvent[] = [];
  /**
   * True after a call of `enter_space` in the same reply: later calls are shown once it is known which space they go
   * to.
   */
  #isSpaceUndecided = false;

  constructor(
    services: Services,
    cycle: Cycle,
    { isVisible, onQueued }: { isVisible: (toolName: string) => boolean; onQueued: () => void },
  ) {
    this.#services = services;
    this.#cycle = cycle;
    this.#isVisible = isVisible;
    this.#onQueued = onQueued;
  }

  onEvent(event: TurnEvent): void {
    switch (event.type) {
      case 'step.start':
        this.#isSpaceUndecided = false;
        // The reply was cut off and is requested again, with new ids.
        if (event.attempt > 1) this.cancelAll('The reply broke off.');
        return;
      case 'tool-input-start':
        this.#start(event.callId, event.toolName);
        return;
      case 'tool-input-delta':
        this.#extend(event.callId, event.delta);
        return;
      case 'tool-call.progress':
        this.#progress(event.callId, event.value);
        return;
      default:
        return;
    }
  }

  /** Cancels what was shown of calls that the complete reply does not contain: they never run. */
  cancelUnrequested(calls: Extract<Entry, { kind: 'reply' }>['calls']): void {
    const inputs = new Map(calls.map(({ callId, input }) => [callId, input]));
    for (const callId of [...this.#live.keys()]) {
      const input = inputs.get(callId);
      if (input === undefined) this.cancel(callId, 'It was not asked for.');
      else this.showInput(callId, input);
    }
  }

  cancelAll(reason: string): void {
    for (const callId of [...this.#live.keys()]) this.cancel(callId, reason);
  }

  /** Ends a shown call that never runs, or a message that was not sent. */
  cancel(callId: string, reason: string): void {
    const live = this.#live.get(callId);
    if (live === undefined) return;
    this.#live.delete(callId);
    const payload = live.kind === 'message' ? { streamId: callId, reason } : { callId, reason };
    this.#enqueue({
      spaceId: live.spaceId,
      type: live.kind === 'message' ? 'message.cancelled' : 'tool-call.cancelled',
      payload,
    });
  }

  /** The space where the call is shown, if it is. */
  spaceOf(callId: string): string | undefined {
    return this.#live.get(callId)?.spaceId;
  }

  /** Forgets a call whose end is shown by whoever settles it. */
  forget(callId: string): void {
    this.#live.delete(callId);
  }

  /** Restores a call that a dead worker had started to show. */
  restore(call: Omit<LiveCall, 'field'>): void {
    this.#live.set(call.callId, { ...call, field: undefined });
  }

  /**
   * Shows the rest of a visible call's input. That is all of it after `enter_space`, with providers that do not stream
   * inputs, and after a takeover. The event goes into the given transaction, or into the next one.
   */
  showInput(callId: string, rawInput: string, tx?: Tx): void {
    const live = this.#live.get(callId);
    if (live?.kind !== 'tool' || !rawInput.startsWith(live.shownText) || rawInput === live.shownText) return;
    const { spaceId, shownText } = live;
    const delta = { type: 'tool-input-delta', payload: { callId, delta: rawInput.slice(shownText.length) } };
    const markShown = (): void => {
      live.shownText = rawInput;
    };
    if (tx === undefined) {
      this.#enqueue({ spaceId, ...delta });
      markShown();
    } else {
      emit(this.#services, tx, { channel: spaceChannel(spaceId), ...delta });
      tx.afterCommit(markShown);
    }
  }

  /** Shows the rest of a message before it is complete: all of it, if nothing was shown yet. */
  completeText(
    callId: string,
    { spaceId, text, replyTo }: { spaceId: string; text: string; replyTo: string | undefined },
  ): void {
    const live = this.#live.get(callId);
    const isContinuation = live !== undefined && live.spaceId === spaceId && text.startsWith(live.shownText);
    if (live !== undefined && !isContinuation)
      this.cancel(callId, 'The message that was sent differs from the text shown before.');
    if (!isContinuation)
      this.#enqueue({ spaceId, type: 'message.start', payload: this.#messageStart(callId, replyTo) });
    const rest = isContinuation ? text.slice(live.shownText.length) : text;
    if (rest !== '') this.#enqueue({ spaceId, type: 'message.delta', payload: { streamId: callId, delta: rest } });
    this.forget(callId);
  }

  /** Writes the queued events in the transaction. They leave the queue when it is committed. */
  emitQueued(tx: Tx): void {
    const events = this.#queue.slice();
    if (events.length === 0) return;
    for (const { spaceId, type, payload } of mergeDeltas(events))
      emit(this.#services, tx, { channel: spaceChannel(spaceId), type, payload });
    tx.afterCommit(() => {
      this.#queue = this.#queue.slice(events.length);
    });
  }

  #start(callId: string, toolName: string): void {
    const { activeSpaceId } = this.#cycle;
    if (toolName === 'enter_space') this.#isSpaceUndecided = true;
    if (this.#isSpaceUndecided || activeSpaceId === null) return;
    if (toolName === 'send_message') {
      const field = createTextField('text');
      this.#live.set(callId, { callId, kind: 'message', spaceId: activeSpaceId, field, shownText: '' });
      this.#enqueue({ spaceId: activeSpaceId, type: 'message.start', payload: this.#messageStart(callId, undefined) });
    } else if (this.#isVisible(toolName)) this.showStart(callId, toolName, activeSpaceId);
  }

  /** Shows the start of a visible call that was not shown while the model wrote it. */
  showStart(callId: string, toolName: string, spaceId: string): void {
    if (this.#live.has(callId)) return;
    this.#live.set(callId, { callId, kind: 'tool', spaceId, field: undefined, shownText: '' });
    const { runId, agent } = this.#cycle;
    const payload = { streamId: callId, callId, toolName, entityId: agent.entityId, runId };
    this.#enqueue({ spaceId, type: 'tool-call.start', payload });
  }

  #messageStart(callId: string, replyTo: string | undefined): QueuedEvent['payload'] {
    const { runId, agent } = this.#cycle;
    const reply = replyTo === undefined ? {} : { replyTo };
    return { streamId: callId, messageId: callId, entityId: agent.entityId, runId, ...reply };
  }

  #extend(callId: string, delta: string): void {
    const live = this.#live.get(callId);
    if (live === undefined) return;
    if (live.kind === 'tool') {
      live.shownText += delta;
      this.#enqueue({ spaceId: live.spaceId, type: 'tool-input-delta', payload: { callId, delta } });
      return;
    }
    const added = live.field?.push(delta) ?? '';
    if (added === '') return;
    live.shownText += added;
    this.#enqueue({ spaceId: live.spaceId, type: 'message.delta', payload: { streamId: callId, delta: added } });
  }

  #progress(callId: string, value: unknown): void {
    const live = this.#live.get(callId);
    if (live?.kind !== 'tool') return;
    // Serialized now, because the tool may change the value before it is written.
    const json = toJson(asJson(value));
    const maxBytes = this.#services.limits.outputBytes;
    const payload = {
      callId,
      value: Buffer.byteLength(json) > maxBytes ? cutForPeople(json, maxBytes) : fromJson(json),
    };
    this.#enqueue({ spaceId: live.spaceId, type: 'tool-call.progress', payload });
  }

  #enqueue(event: QueuedEvent): void {
    this.#queue.push(event);
    this.#onQueued();
  }
}

/** Merges adjacent deltas of the same stream into one event. */
function mergeDeltas(events: readonly QueuedEvent[]): QueuedEvent[] {
  const merged: QueuedEvent[] = [];
  for (const one of events) {
    const last = merged.at(-1);
    if (last !== undefined && isSameStream(last, one)) {
      const delta = `${String(last.payload.delta)}${String(one.payload.delta)}`;
      merged[merged.length - 1] = { ...last, payload: { ...last.payload, delta } };
    } else merged.push(one);
  }
  return merged;
}

function isSameStream(one: QueuedEvent, next: QueuedEvent): boolean {
  if (!('delta' in one.payload) || one.type !== next.type || one.spaceId !== next.spaceId) return false;
  return one.payload.streamId === next.payload.streamId && one.payload.callId === next.payload.callId;
}
