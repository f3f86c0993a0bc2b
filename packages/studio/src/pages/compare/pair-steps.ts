import type { StepRow } from '@lastcall/client/timeline';

export interface StepPair {
  readonly left: StepRow;
  readonly right: StepRow;
}

/**
 * Steps of two runs that can be compared: the first ones, the second ones, and so on, of each instance of a machine on its own. Instances
 * work in parallel, so the steps of the runs may be in another order. A step without a counterpart is left out.
 */
export function pairSteps(left: readonly StepRow[], right: readonly StepRow[]): readonly StepPair[] {
  const ofInstances = Map.groupBy(left, instanceOf);
  const used = new Map<string, number>();
  return right.flatMap((step): readonly StepPair[] => {
    const instance = instanceOf(step);
    const place = used.get(instance) ?? 0;
    used.set(instance, place + 1);
    const found = ofInstances.get(instance)?.[place];
    return found === undefined ? [] : [{ left: found, right: step }];
  });
}

function instanceOf({ origin }: StepRow): string {
  return origin?.instanceId ?? '';
}
