/** A library under observation. Each takes the same script in its own way, with its defaults where the script says nothing. */
export interface Subject {
  readonly name: string;
  /** What of the library each part of a script is done with. */
  readonly means: Means;
  /** Runs a script until it ends or waits for a decision. Throws NotSupported where the library has no such feature. */
  run(script: Script): Promise<Observation>;
}

export type Means = Readonly<
  Record<'stop' | 'timeout' | 'cap' | 'deadline' | 'approval' | 'state' | 'keeping', string>
>;

export interface Script {
  /** What the model says, given how often it was asked and what it was shown. */
  readonly model: (request: Asked) => Reply;
  readonly tools: Readonly<Record<string, ScriptedTool>>;
  readonly maxSteps?: number;
  /** The whole run is to end after this. */
  readonly deadlineMs?: number;
  /** Where the run is to be written down, and gone on with if something is there. */
  readonly directory?: string;
}

interface Asked {
  /** Counts from 1. */
  readonly time: number;
  /** The results in the request, by tool: what a model knows of its calls. */
  readonly shown: Readonly<Record<string, string>>;
}

/** A text, or the names of the tools it calls. */
export type Reply = string | readonly string[];

export interface ScriptedTool {
  execute(tools: ToolHands): string | Promise<string>;
  /** Its result is the answer, and the run is to end with it. */
  readonly stop?: true;
  readonly timeoutMs?: number;
  /** Runs only once somebody has allowed it. */
  readonly approval?: true;
}

/** What a tool can reach. */
interface ToolHands {
  /** Writes to the state that the library itself hands to its tools. */
  write(value: string): void;
}

export interface Observation {
  readonly end: 'finished' | 'waiting' | 'rejected';
  /** The answer, where it finished. */
  readonly answer: string;
  /** Why it stopped, in the library's own words: a finish reason, or the name of the error. */
  readonly why: string;
  /** How often the model was asked, and what it was shown last. */
  readonly asked: number;
  readonly shown: Readonly<Record<string, string>>;
  /** What the state holds that tools wrote to, now. */
  readonly written: () => string | undefined;
  /** Goes on with a decision on the call that waits. */
  readonly decide?: (decision: 'approve' | 'reject') => Promise<Observation>;
}

/** The library has no such feature. */
export class NotSupported extends Error {
  override readonly name: string = 'NotSupported';
}

/** Follows what a model is asked, so that each adapter need only translate. */
export class Interview {
  readonly #model: Script['model'];
  asked = 0;
  shown: Record<string, string> = {};

  constructor(model: Script['model']) {
    this.#model = model;
  }

  ask(shown: Record<string, string>): Reply {
    this.asked++;
    this.shown = shown;
    return this.#model({ time: this.asked, shown });
  }
}

/** The name of what was thrown. */
export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

/** Replies one after another; asked further, it says so. */
export function inOrder(...replies: readonly Reply[]): Script['model'] {
  return ({ time }) => replies[time - 1] ?? 'asked once more';
}
