import type { Usage } from '../model/usage.ts';
import type { Settlement } from '../results/outcome.ts';
import type { Stop } from '../transcript/stop.ts';
import type { TurnOptions } from '../turn/turn-options.ts';
import type { Estimate } from './statistics.ts';

/** One task, and what is expected of it. */
export interface EvalCase<Input = unknown, Expected = unknown> {
  /** It has to be unique. Default: `case 1`, `case 2` … */
  readonly name?: string;
  readonly input: Input;
  readonly expected?: Expected;
  /**
   * A run on the gateway that did this task, for agents of a gateway: see `lastcall eval add`. The case is a fork of it: calls that the run made
   * get the recorded outcomes, and no call acts outside.
   */
  readonly run?: string;
  /** Anything that scores need to know. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** What a run of a case returned. A turn's result is one; so is a text. */
export interface EvalOutput {
  readonly response: string;
  /** The value of the tool that ended the turn. */
  readonly output?: unknown;
  readonly settlements?: readonly Pick<Settlement, 'toolName' | 'input' | 'outcome'>[];
  readonly usage?: Usage;
  /** What the run cost, in the currency of the prices. */
  readonly cost?: number;
  readonly stop?: Stop;
  /** The run on a gateway. */
  readonly runId?: string;
}

/** What a score looks at. */
export interface ScoreContext<Input = unknown, Expected = unknown> extends Required<Pick<EvalOutput, 'response'>> {
  readonly input: Input;
  readonly expected: Expected | undefined;
  readonly output: unknown;
  readonly settlements: NonNullable<EvalOutput['settlements']>;
  readonly usage: Usage | undefined;
  readonly cost: number | undefined;
  readonly stop: Stop | undefined;
  readonly ms: number;
  readonly case: EvalCase<Input, Expected>;
  readonly signal: AbortSignal;
}

/** 0 is wrong, and 1 is right. `true` is 1. */
export type ScoreValue =
  | number
  | boolean
  | { readonly value: number | boolean; readonly reason?: string; readonly usage?: Usage };

export type Score<Input = unknown, Expected = unknown> = (
  context: ScoreContext<Input, Expected>,
) => ScoreValue | Promise<ScoreValue>;

export interface EvalOptions<Input = unknown, Expected = unknown> {
  /** Default: the name of the file, or `evaluation`. */
  readonly name?: string;
  /** A name is an evaluation of the gateway with stored cases, for `lastcall eval`. */
  readonly cases:
    | string
    | readonly EvalCase<Input, Expected>[]
    | (() => readonly EvalCase<Input, Expected>[] | Promise<readonly EvalCase<Input, Expected>[]>);
  /** Options of a turn, which is run with the input as its prompt. A name is an agent of the gateway, for `lastcall eval`. */
  readonly agent?: string | Omit<TurnOptions, 'prompt'>;
  /** Or a function that does the task. */
  readonly run?: (
    input: Input,
    context: RunContext<Input, Expected>,
  ) => Promise<EvalOutput | string> | EvalOutput | string;
  readonly scores: Readonly<Record<string, Score<Input, Expected>>>;
  /** How often each case is run. Default 1. */
  readonly repeat?: number;
  /** How many cases are run at once. Default 4. */
  readonly parallel?: number;
  /** The mean of every score has to be at least this. Default: none. */
  readonly min?: number;
}

export interface RunContext<Input = unknown, Expected = unknown> {
  readonly case: EvalCase<Input, Expected>;
  /** Counts from 1, up to `repeat`. */
  readonly sample: number;
  readonly signal: AbortSignal;
}

/** One run of one case. It is JSON. */
export interface EvalSample {
  readonly case: string;
  readonly sample: number;
  /** By the name of the score. Empty if the run failed. */
  readonly scores: Readonly<Record<string, { readonly value: number; readonly reason?: string }>>;
  readonly response?: string;
  readonly calls?: readonly { readonly toolName: string; readonly status: string }[];
  readonly error?: string;
  readonly ms: number;
  readonly usage?: Usage;
  readonly cost?: number;
  /** What judges used. */
  readonly judgeUsage?: Usage;
  readonly runId?: string;
}

export interface EvalReport {
  readonly name: string;
  /** In the order of the cases, and of their samples. */
  readonly samples: readonly EvalSample[];
  /** Of each score: its mean over all cases. A run that failed counts as 0. */
  readonly scores: Readonly<Record<string, Estimate>>;
  /** How many runs failed. */
  readonly failed: number;
  readonly usage: Usage;
  readonly cost?: number;
  readonly ms: number;
  /** Absent without `min`. */
  readonly passed?: boolean;
}
