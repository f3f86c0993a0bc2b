import { Random } from '../chaos/random.ts';
import type { Action } from './action.ts';

export const WORKS = ['answer', 'charge', 'record', 'look_up', 'confirm', 'transfer'] as const;
const IN_CHAT = ['answer', 'charge', 'record', 'look_up'] as const;

export interface ActionOptions {
  /** From, to. */
  readonly count: readonly [number, number];
  /** All actions begin within this time. */
  readonly beginMs: number;
}

/** The actions of people and clients for this seed, in order of time. */
export function actionsOf(seed: number, { count: [least, most], beginMs }: ActionOptions): readonly Action[] {
  const random = new Random(seed ^ 0x5eed);
  const actions = Array.from({ length: random.between(least, most) }, (_, index) =>
    actionOf(random, index + 1, beginMs),
  );
  return actions.sort((one, other) => one.at - other.at);
}

function actionOf(random: Random, number: number, beginMs: number): Action {
  const at = 100 + random.between(0, beginMs);
  const drawn = random.next();
  if (drawn < 0.2)
    return {
      kind: 'chat',
      at,
      ref: `c${number}`,
      agent: random.oneOf(['Anna', 'Bert', 'Cleo']),
      what: random.oneOf(IN_CHAT),
    };
  const isNorth = random.isLucky(0.5);
  const ref = `${isNorth ? 'n' : 's'}${number}`;
  const agent = isNorth ? random.oneOf(['Anna', 'Bert']) : random.oneOf(['Bert', 'Cleo']);
  if (drawn < 0.35) return { kind: 'plan', at, ref, agent, afterMs: random.between(4_000, 12_000) };
  return { kind: 'post', at, ref, agent, what: random.oneOf(WORKS) };
}
