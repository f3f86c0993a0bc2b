import { Random } from '../chaos/random.ts';
import type { Action } from './action.ts';

export const WORKS = ['answer', 'charge', 'record', 'look_up', 'confirm', 'transfer'] as const;
const IN_CHAT = ['answer', 'charge', 'record', 'look_up'] as const;

/** What people and clients of this seed do, in the order of time. */
export function actionsOf(seed: number): readonly Action[] {
  const random = new Random(seed ^ 0x5eed);
  const actions = Array.from({ length: random.between(3, 9) }, (_, index) => actionOf(random, index + 1));
  return actions.sort((one, other) => one.at - other.at);
}

function actionOf(random: Random, number: number): Action {
  const at = 100 + random.between(0, 10_000);
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
