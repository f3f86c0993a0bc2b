import type { RunningCycle } from './cycle-state.ts';
import type { Write } from './cycle-write.ts';
import type { RunStream } from './thread-kind.ts';

/** The next state of a running cycle, and what has to be written. */
export type Decision = readonly [state: RunningCycle, writes: readonly Write[]];

/** The inputs of decisions besides the state. They do not change during a cycle. */
export interface DecisionContext {
  readonly runId: string;
  readonly agent: { readonly entityId: string; readonly tag: string };
  /** Which events the run's stream gets while the turn is running. Default: `ends`. */
  readonly runStream?: RunStream;
  /** True if a space sees the tool's calls as cards. */
  readonly isVisible: (toolName: string) => boolean;
}

/** Makes several decisions in order, each on the state that the previous one returned. */
export function inTurn(state: RunningCycle, ...steps: readonly ((state: RunningCycle) => Decision)[]): Decision {
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
export function appendEntry(state: RunningCycle, entry: string, payload: string): Decision {
  const seq = state.nextSeq;
  return [{ ...state, nextSeq: seq + 1 }, [{ kind: 'entry', seq, entry, payload }]];
}
