import type { Settlement } from '@lastcall/core';
import type { RunningState } from './run-state.ts';
import type { Write } from './run-write.ts';
import type { RunStream } from './thread-kind.ts';

/** The next state of an open run, and what has to be written. */
export type Decision = readonly [state: RunningState, writes: readonly Write[]];

/** The inputs of decisions besides the state. They do not change during a run. */
export interface DecisionContext {
  readonly runId: string;
  readonly agent: { readonly entityId: string };
  /** True for a fork: no space sees anything of it. */
  readonly isFork?: boolean;
  /** Which events the run's stream gets while the turn is running. Default: `ends`. */
  readonly runStream?: RunStream;
  /** True if a space sees the tool's calls as cards. */
  readonly isVisible: (toolName: string) => boolean;
  /** True if a space sees the tool's calls that wait for an answer. */
  readonly showsWait: (toolName: string) => boolean;
  /** True if the output of this tool may be posted as the agent's message when it ends the run. */
  readonly isPostable?: (toolName: string) => boolean;
  /** True if the success of this call ends the run. Default: never. */
  readonly endsRun?: (settlement: Settlement) => boolean;
}

/** Makes several decisions in order, each on the state that the previous one returned. */
export function inTurn(state: RunningState, ...steps: readonly ((state: RunningState) => Decision)[]): Decision {
  let current = state;
  const all: Write[] = [];
  for (const step of steps) {
    const [next, writes] = step(current);
    current = next;
    all.push(...writes);
  }
  return [current, all];
}

/** Writes a row of the transcript. */
export function appendEntry(state: RunningState, entry: string, payload: string): Decision {
  const seq = state.nextSeq;
  return [{ ...state, nextSeq: seq + 1 }, [{ kind: 'entry', seq, entry, payload }]];
}
