import type { TurnEvent } from '@lastcall/core';
import type { RunEvent } from '../run/run-event.ts';
import type { RunStream } from '../run/thread-kind.ts';
import { TurnEventReader } from '../run/turn-event-reader.ts';

/** Reads the events of a turn, or of the instances of a machine, and says how soon each is sent to those who follow the run. */
export class LiveOrder {
  readonly #limits: { readonly outputBytes: number };
  readonly #runStream: RunStream;
  /** One for each instance of a machine; a turn has one. */
  readonly #readers = new Map<string | undefined, TurnEventReader>();
  /** The newest step of each instance of a machine, counted through the run: each turn of an instance counts its own from 1. */
  readonly #stepOf = new Map<string, number>();
  /** Undefined until the first step of an instance. */
  #steps: number | undefined;
  readonly #stepsBefore: () => number;
  /** True if the model has written something in this step. */
  #hasSpoken = false;

  /** `stepsBefore`: counts the steps that a machine's run had before. It is not asked for a turn. */
  constructor(limits: { readonly outputBytes: number }, runStream: RunStream, stepsBefore: () => number) {
    this.#limits = limits;
    this.#runStream = runStream;
    this.#stepsBefore = stepsBefore;
  }

  /** Undefined for events that change nothing in the run. */
  read(turnEvent: TurnEvent): RunEvent | undefined {
    const { instanceId: by, isOfWorker } = turnEvent as { readonly instanceId?: string; readonly isOfWorker?: boolean };
    const reader = this.#readers.get(by) ?? new TurnEventReader(this.#limits);
    this.#readers.set(by, reader);
    const read = reader.read(by === undefined ? turnEvent : this.#withRunStep(turnEvent, by));
    return read !== undefined && HAVE_AUTHORS.has(read.type) ? ({ ...read, by, isOfWorker } as RunEvent) : read;
  }

  #withRunStep(event: TurnEvent, by: string): TurnEvent {
    if (event.type === 'step.start' && event.attempt === 1) {
      this.#steps = (this.#steps ?? this.#stepsBefore()) + 1;
      this.#stepOf.set(by, this.#steps);
    }
    return 'step' in event ? { ...event, step: this.#stepOf.get(by) ?? event.step } : event;
  }

  /** True for events about steps that are sent with the next write. A retry of a step may take long, so it is reported soon. */
  waitsForWrite(event: RunEvent): boolean {
    return this.#runStream === 'steps' && isSettledSoon(event);
  }

  /** True for the first words of a step, if the run has subscribers: they are sent at once. */
  isFirstOfStep({ type }: RunEvent): boolean {
    if (!FIRST_WORDS.has(type)) {
      this.#hasSpoken &&= type !== 'step-started';
      return false;
    }
    const isFirst = !this.#hasSpoken && this.#runStream === 'whole';
    this.#hasSpoken = true;
    return isFirst;
  }
}

const HAVE_AUTHORS: ReadonlySet<RunEvent['type']> = new Set([
  'input-started',
  'step-started',
  'text-written',
  'reasoning-written',
]);

const FIRST_WORDS: ReadonlySet<RunEvent['type']> = new Set(['text-written', 'reasoning-written', 'input-started']);

/** True for events that are soon followed by a write: the end of the step, of the call or of the run. */
function isSettledSoon(event: RunEvent): boolean {
  return event.type !== 'progress-reported' && (event.type !== 'step-started' || event.attempt === 1);
}
