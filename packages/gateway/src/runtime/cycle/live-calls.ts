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
  /** Bound when it became visible: entering another space later does not move it. */
  readonly spaceId: string;
  readonly field: TextField | undefined;
  /** What was shown of a message's text, or of a tool's input. */
  given: string;
}

interface Shown {
  readonly spaceId: string;
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/**
 * Shows calls as they are written, in the space the agent is in. What is shown is kept here until the next transaction of the
 * cycle takes it along, so that it costs no transaction of its own while the model is quick, and one now and then while it is not.
 */
export class LiveCalls {
  readonly #cycle: Cycle;
  readonly #services: Services;
  readonly #isVisible: (toolName: string) => boolean;
  readonly #onShown: () => void;
  readonly #live = new Map<string, LiveCall>();
  #shown: Shown[] = [];
  /** An earlier call of the reply enters another space: later ones are shown once it is known where they go. */
  #mayMove = false;

  constructor(
    services: Services,
    cycle: Cycle,
    { isVisible, onShown }: { isVisible: (toolName: string) => boolean; onShown: () => void },
  ) {
    this.#services = services;
    this.#cycle = cycle;
    this.#isVisible = isVisible;
    this.#onShown = onShown;
  }

  hear(event: TurnEvent): void {
    switch (event.type) {
      case 'step.start':
        this.#mayMove = false;
        // A reply that broke off is asked for again, under new ids.
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

  /** The calls that the reply came to ask for. What was shown of others never runs. */
  keepOnly(calls: Extract<Entry, { kind: 'reply' }>['calls']): void {
    const written = new Map(calls.map(({ callId, input }) => [callId, input]));
    for (const callId of [...this.#live.keys()]) {
      const input = written.get(callId);
      if (input === undefined) this.cancel(callId, 'It was not asked for.');
      else this.showInput(callId, input);
    }
  }

  cancelAll(reason: string): void {
    for (const callId of [...this.#live.keys()]) this.cancel(callId, reason);
  }

  /** Shown, and it never runs, or ran and failed as a message. */
  cancel(callId: string, reason: string): void {
    const live = this.#live.get(callId);
    if (live === undefined) return;
    this.#live.delete(callId);
    const payload = live.kind === 'message' ? { streamId: callId, reason } : { callId, reason };
    this.#show({
      spaceId: live.spaceId,
      type: live.kind === 'message' ? 'message.cancelled' : 'tool-call.cancelled',
      payload,
    });
  }

  /** Where a call is shown already, if it is. */
  spaceOf(callId: string): string | undefined {
    return this.#live.get(callId)?.spaceId;
  }

  /** Its end is shown by whoever settles it. */
  forget(callId: string): void {
    this.#live.delete(callId);
  }

  /** Takes over what a dead worker had begun to show. */
  adopt(call: Omit<LiveCall, 'field'>): void {
    this.#live.set(call.callId, { ...call, field: undefined });
  }

  /**
   * Shows what is still missing of a visible call's input: all of it, where it was not shown while it was written. That is so after
   * `enter_space`, of providers that give a call whole, and where another worker took over in between. With the transaction, if one
   * is given; otherwise with the next one.
   */
  showInput(callId: string, written: string, tx?: Tx): void {
    const live = this.#live.get(callId);
    if (live?.kind !== 'tool' || !written.startsWith(live.given) || written === live.given) return;
    const { spaceId, given } = live;
    const delta = { type: 'tool-input-delta', payload: { callId, delta: written.slice(given.length) } };
    const isDone = (): void => {
      live.given = written;
    };
    if (tx === undefined) {
      this.#show({ spaceId, ...delta });
      isDone();
    } else {
      emit(this.#services, tx, { channel: spaceChannel(spaceId), ...delta });
      tx.afterCommit(isDone);
    }
  }

  /** Shows what is still missing of a message before it is complete: all of it, where nothing was shown yet. */
  completeText(
    callId: string,
    { spaceId, text, replyTo }: { spaceId: string; text: string; replyTo: string | undefined },
  ): void {
    const live = this.#live.get(callId);
    const isStart = live !== undefined && live.spaceId === spaceId && text.startsWith(live.given);
    if (live !== undefined && !isStart) this.cancel(callId, 'It was sent otherwise than it was written.');
    if (!isStart) this.#show({ spaceId, type: 'message.start', payload: this.#messageStart(callId, replyTo) });
    const rest = isStart ? text.slice(live.given.length) : text;
    if (rest !== '') this.#show({ spaceId, type: 'message.delta', payload: { streamId: callId, delta: rest } });
    this.forget(callId);
  }

  /** Leaves what was shown since the last time to the transaction. */
  drain(tx: Tx): void {
    const shown = this.#shown.slice();
    if (shown.length === 0) return;
    for (const { spaceId, type, payload } of coalesce(shown))
      emit(this.#services, tx, { channel: spaceChannel(spaceId), type, payload });
    tx.afterCommit(() => {
      this.#shown = this.#shown.slice(shown.length);
    });
  }

  #start(callId: string, toolName: string): void {
    const { activeSpaceId } = this.#cycle;
    if (toolName === 'enter_space') this.#mayMove = true;
    if (this.#mayMove || activeSpaceId === null) return;
    if (toolName === 'send_message') {
      const field = createTextField('text');
      this.#live.set(callId, { callId, kind: 'message', spaceId: activeSpaceId, field, given: '' });
      this.#show({ spaceId: activeSpaceId, type: 'message.start', payload: this.#messageStart(callId, undefined) });
    } else if (this.#isVisible(toolName)) this.showStart(callId, toolName, activeSpaceId);
  }

  /** A visible call that was not shown while it was written is shown when it starts. */
  showStart(callId: string, toolName: string, spaceId: string): void {
    if (this.#live.has(callId)) return;
    this.#live.set(callId, { callId, kind: 'tool', spaceId, field: undefined, given: '' });
    const { runId, agent } = this.#cycle;
    const payload = { streamId: callId, callId, toolName, entityId: agent.entityId, runId };
    this.#show({ spaceId, type: 'tool-call.start', payload });
  }

  #messageStart(callId: string, replyTo: string | undefined): Shown['payload'] {
    const { runId, agent } = this.#cycle;
    const reply = replyTo === undefined ? {} : { replyTo };
    return { streamId: callId, messageId: callId, entityId: agent.entityId, runId, ...reply };
  }

  #extend(callId: string, delta: string): void {
    const live = this.#live.get(callId);
    if (live === undefined) return;
    if (live.kind === 'tool') {
      live.given += delta;
      this.#show({ spaceId: live.spaceId, type: 'tool-input-delta', payload: { callId, delta } });
      return;
    }
    const added = live.field?.push(delta) ?? '';
    if (added === '') return;
    live.given += added;
    this.#show({ spaceId: live.spaceId, type: 'message.delta', payload: { streamId: callId, delta: added } });
  }

  #progress(callId: string, value: unknown): void {
    const live = this.#live.get(callId);
    if (live?.kind !== 'tool') return;
    // As it is now: the tool may change it before it is written.
    const json = toJson(asJson(value));
    const most = this.#services.limits.outputBytes;
    const payload = { callId, value: Buffer.byteLength(json) > most ? cutForPeople(json, most) : fromJson(json) };
    this.#show({ spaceId: live.spaceId, type: 'tool-call.progress', payload });
  }

  #show(shown: Shown): void {
    this.#shown.push(shown);
    this.#onShown();
  }
}

/** Pieces of one stream that lie side by side become one. */
function coalesce(shown: readonly Shown[]): Shown[] {
  const whole: Shown[] = [];
  for (const one of shown) {
    const last = whole.at(-1);
    if (last !== undefined && isContinued(last, one)) {
      const delta = `${String(last.payload.delta)}${String(one.payload.delta)}`;
      whole[whole.length - 1] = { ...last, payload: { ...last.payload, delta } };
    } else whole.push(one);
  }
  return whole;
}

function isContinued(one: Shown, next: Shown): boolean {
  if (!('delta' in one.payload) || one.type !== next.type || one.spaceId !== next.spaceId) return false;
  return one.payload.streamId === next.payload.streamId && one.payload.callId === next.payload.callId;
}
