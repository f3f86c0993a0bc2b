/** A library that is compared. Each runs the same script with its own API, and with its defaults where the script says nothing. */
export interface Subject {
  readonly name: string;
  /** The feature of the library that each part of a script uses. */
  readonly means: Means;
  /** Runs a script until it ends or waits for a decision. Throws NotSupported where the library has no such feature. */
  run(script: Script): Promise<Observation>;
}

export type Means = Readonly<
  Record<'stop' | 'timeout' | 'cap' | 'deadline' | 'approval' | 'state' | 'keeping', string>
>;

export interface Script {
  /** Returns the model's reply, given the number of the request and the results in it. */
  readonly model: (request: Asked) => Reply;
  readonly tools: Readonly<Record<string, ScriptedTool>>;
  readonly maxSteps?: number;
  /** The time limit of the whole run. */
  readonly deadlineMs?: number;
  /** The folder where the run is stored. If it holds a stored run, the run is resumed. */
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
  /** Its result is the answer and should end the run. */
  readonly stop?: true;
  readonly timeoutMs?: number;
  /** Runs only after a person has approved it. */
  readonly approval?: true;
}

/** What a tool can reach. */
interface ToolHands {
  /** Writes to the state that the library passes to its tools. */
  write(value: string): void;
}

export interface Observation {
  readonly end: 'finished' | 'waiting' | 'rejected';
  /** The answer, if the run finished. */
  readonly answer: string;
  /** Why it stopped, in the library's own words: a finish reason, or the name of the error. */
  readonly why: string;
  /** How often the model was asked, and the results in its last request. */
  readonly asked: number;
  readonly shown: Readonly<Record<string, string>>;
  /** The current value of the state that tools wrote to. */
  readonly written: () => string | undefined;
  /** Decides the call that waits, and continues the run. */
  readonly decide?: (decision: 'approve' | 'reject') => Promise<Observation>;
}

/** The library has no such feature. */
export class NotSupported extends Error {
  override readonly name: string = 'NotSupported';
}

/** Records the requests to a model, so that each adapter only has to translate them. */
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

/** Returns these replies in order, and 'asked once more' after them. */
export function inOrder(...replies: readonly Reply[]): Script['model'] {
  return ({ time }) => replies[time - 1] ?? 'asked once more';
}
