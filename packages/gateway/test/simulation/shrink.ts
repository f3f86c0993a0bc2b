import type { Problem } from './checks.ts';
import type { EndedWorld, WorldOptions } from './world.ts';

interface Checked {
  readonly world: EndedWorld;
  readonly problems: readonly Problem[];
}

type Run = (options: WorldOptions) => Promise<Checked>;

/** More tries would take longer than reading a longer story. */
const MOST_TRIES = 300;
/** Without one fault, everything after it happens at other moments. So each candidate is tried with several sets of delays. */
const TIMINGS = [0, 1, 2];

/**
 * Leaves out faults and actions for as long as the same promise is broken without them. What is left is needed: without any one of it, the
 * world keeps its promises.
 */
export async function shrink(failed: Checked, run: Run): Promise<Checked & { readonly tries: number }> {
  const { seed } = failed.world;
  const broken = new Set(failed.problems.map(({ check }) => check));
  let smallest = failed;
  let tries = 0;
  let faults = failed.world.faults.map(({ id }) => id);
  let actions = failed.world.actions.map((_action, index) => index);
  const failsWith = async (onlyFaults: readonly string[], onlyActions: readonly number[]): Promise<boolean> => {
    for (const timing of TIMINGS) {
      if (tries++ >= MOST_TRIES) return false;
      const tried = await run({ seed, onlyFaults: new Set(onlyFaults), onlyActions: new Set(onlyActions), timing });
      if (!tried.problems.some(({ check }) => broken.has(check))) continue;
      smallest = tried;
      return true;
    }
    return false;
  };
  // With all named, nothing is left out.
  if (!(await failsWith(faults, actions))) return { ...failed, tries };
  for (let before = -1; before !== faults.length + actions.length; ) {
    before = faults.length + actions.length;
    faults = await leaveOut(faults, (rest) => failsWith(rest, actions));
    actions = await leaveOut(actions, (rest) => failsWith(faults, rest));
  }
  return { ...smallest, tries };
}

/** Leaves out halves, quarters and so on, down to single ones. */
async function leaveOut<T>(all: readonly T[], fails: (rest: readonly T[]) => Promise<boolean>): Promise<T[]> {
  let kept = [...all];
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let at = 0; at < kept.length; ) {
      const rest = [...kept.slice(0, at), ...kept.slice(at + size)];
      if (await fails(rest)) kept = rest;
      else at += size;
    }
  return kept;
}
