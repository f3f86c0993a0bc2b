/** What can go wrong, by the place where it does. */
export type FaultKind =
  | 'die'
  | 'stall'
  | 'jump-clock'
  | 'refuse'
  | 'undo-commit'
  | 'lose-answer'
  | 'outage'
  | 'lose-notice'
  | 'double-notice'
  | 'delay-notice'
  | 'lose-wake'
  | 'disconnect'
  | 'repeat'
  | 'read-slowly'
  | 'model-slow'
  | 'model-fails'
  | 'model-breaks-off'
  | 'tool-hangs'
  | 'tool-throws'
  | 'tool-acts-and-fails';

/** A fault that happened. Its id names the place and how often that place had been passed. */
export interface Fault {
  readonly id: string;
  readonly kind: FaultKind;
  readonly at: number;
}

export type Chances = Readonly<Partial<Record<FaultKind, number>>>;

/**
 * More of them in one world would only show limits that are meant: a run fails at its third takeover without progress, and an event
 * is dead after five failed runs.
 */
const AT_MOST: Chances = { die: 3, stall: 3, 'model-fails': 2, 'model-breaks-off': 1, outage: 2, 'jump-clock': 2 };

export interface FaultOptions {
  /** Only these faults happen. Default: all that the seed has. */
  readonly only?: ReadonlySet<string> | undefined;
  /** Another number gives other delays, with the same faults. Default 0. */
  readonly timing?: number | undefined;
  /** Faults are this many times as likely. Default 1. */
  readonly wildness?: number;
  readonly now: () => number;
  readonly onFault: (fault: Fault) => void;
}

/**
 * Decides which faults happen. Each decision depends on the seed, the place and a count alone, never on the decisions before it: if one
 * fault is left out, the others stay.
 */
export class Faults {
  readonly #seed: number;
  readonly #options: FaultOptions;
  readonly #passed = new Map<string, number>();
  readonly #happened = new Map<FaultKind, number>();
  /** Some worlds are calm, some are wild. */
  readonly #wildness: number;
  isOver = false;

  constructor(seed: number, options: FaultOptions) {
    this.#seed = seed;
    this.#options = options;
    this.#wildness = (options.wildness ?? 1) * 0.25 * 2 ** (4 * chance(seed, 'wildness', 0));
  }

  /** The fault that happens here, if any. */
  at(place: string, chances: Chances): FaultKind | undefined {
    const count = this.#passed.get(place) ?? 0;
    this.#passed.set(place, count + 1);
    if (this.isOver) return undefined;
    const id = `${place}#${count}`;
    const { only, now, onFault } = this.#options;
    if (only !== undefined && !only.has(id)) return undefined;
    let drawn = chance(this.#seed, place, count) / this.#wildness;
    for (const [kind, likely] of Object.entries(chances) as [FaultKind, number][]) {
      if (drawn < likely) return this.#isAllowed(kind) ? this.#note({ id, kind, at: now() }, onFault) : undefined;
      drawn -= likely;
    }
    return undefined;
  }

  /** A number from 0 up to 1 that belongs to this place. */
  number(place: string): number {
    const count = this.#passed.get(place) ?? 0;
    this.#passed.set(place, count + 1);
    return chance(this.#seed + 7_919 * (this.#options.timing ?? 0), place, count);
  }

  #isAllowed(kind: FaultKind): boolean {
    return (this.#happened.get(kind) ?? 0) < (AT_MOST[kind] ?? Number.POSITIVE_INFINITY);
  }

  #note(fault: Fault, onFault: (fault: Fault) => void): FaultKind {
    this.#happened.set(fault.kind, (this.#happened.get(fault.kind) ?? 0) + 1);
    onFault(fault);
    return fault.kind;
  }
}

/** From 0 up to 1: the same for the same seed, place and count. */
export function chance(seed: number, place: string, count: number): number {
  let mixed = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(count + 1, 0xc2b2ae35);
  for (let index = 0; index < place.length; index++) mixed = Math.imul(mixed ^ place.charCodeAt(index), 0x01000193);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
}
