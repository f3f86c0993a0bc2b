import type { ToolSet } from '../contract/tool-set.ts';
import type { TurnEvent } from '../contract/turn-events.ts';
import type { TerminalOutput, TurnResult } from '../contract/turn-result.ts';
import { checkSignal } from '../dispatch/dispatch-options.ts';
import { EventQueue } from './event-queue.ts';
import { runNested, runOpened } from './run-turn.ts';
import { openTurn } from './turn.ts';
import { checkTurnOptions, type TurnOptions } from './turn-options.ts';

export type TurnStream<O = unknown> = AsyncIterable<TurnEvent> & {
  readonly result: Promise<TurnResult<O>>;
};

/**
 * Runs a turn and emits its events as they happen. It starts with the first read of either the events or the result; if
 * the reader stops reading the events, the turn stops. `turn.end` is always the last event; a failure is in the result.
 */
export function streamTurn<T extends ToolSet>(options: TurnOptions<T>): TurnStream<TerminalOutput<T>> {
  const events = new EventQueue<TurnEvent>();
  const abort = new AbortController();
  let running: Promise<TurnResult<TerminalOutput<T>>> | undefined;
  const start = (): Promise<TurnResult<TerminalOutput<T>>> => {
    if (running === undefined) {
      running = run(options as TurnOptions, events, abort) as Promise<TurnResult<TerminalOutput<T>>>;
      // A rejection that is not read must not crash the process: the result keeps it.
      running.catch(() => {});
    }
    return running;
  };
  return {
    get result() {
      return start();
    },
    [Symbol.asyncIterator]() {
      events.open();
      void start();
      return reader(events, abort);
    },
  };
}

async function run(options: TurnOptions, events: EventQueue<TurnEvent>, abort: AbortController): Promise<TurnResult> {
  // The turn starts a microtask later, so that a caller who takes the result first and then reads the events misses
  // none.
  await Promise.resolve();
  let ended = false;
  // What a listener returns is passed on: it may be a promise that rejects.
  const onEvent = (event: TurnEvent): unknown => {
    ended ||= event.type === 'turn.end';
    events.push(event);
    return options.onEvent?.(event);
  };
  try {
    // Checked before our options replace the caller's.
    checkTurnOptions(options);
    const signal = either(checkSignal(options.signal), abort.signal);
    return await runOpened(
      () => openTurn({ ...options, signal, onEvent }, runNested, () => events.ready()),
      options.transcript,
    );
  } catch (error) {
    // Options that cannot work are refused before there is a turn that could emit its end.
    if (!ended) events.push({ type: 'turn.end', stop: { reason: 'error', error } });
    throw error;
  } finally {
    events.close();
  }
}

function reader(events: EventQueue<TurnEvent>, abort: AbortController): AsyncIterator<TurnEvent> {
  return {
    next: () => events.next(),
    async return() {
      events.leave();
      abort.abort();
      return { done: true, value: undefined };
    },
  };
}

function either(own: AbortSignal | undefined, reader: AbortSignal): AbortSignal {
  return own === undefined ? reader : AbortSignal.any([own, reader]);
}
