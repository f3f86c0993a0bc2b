import { type ToolSet, tool } from '@lastcall/core';
import { charter, node, to } from '@lastcall/machines';
import { checkDefinitions, type Definitions } from '../../src/config/definitions.ts';
import type { DaySpendLimits } from '../../src/config/spend-limits.ts';
import { defineAgent } from '../../src/index.ts';
import { Random } from '../chaos/random.ts';
import type { Action } from './action.ts';
import { WORKS } from './actions.ts';

/** One more agent, with something that the agents of every world do not have. */
export interface Guest {
  readonly config: object;
  /** What it is asked for. */
  readonly works: readonly [string, ...string[]];
  /** How many requests it gets at most. Default 4. */
  readonly most?: number;
  /** The agent has a project of its own, which may spend this. */
  readonly spend?: DaySpendLimits;
  /** The agent is deleted at some time. */
  readonly isDeleted?: boolean;
  /** False if a request may stay without an answer, because the agent is deleted or has no money left. */
  readonly isAnswered: boolean;
}

export const GUEST = 'Gil';

const config = { name: GUEST, instructions: `You are ${GUEST}.`, replies: 'tools' as const };
const PLAIN: readonly [string, ...string[]] = ['answer', 'charge', 'record', 'look_up'];

/** Law Z4 names them. Spaces, approvals, answers, plans, conversations and sessions are in every world. */
export const GUESTS = {
  machine: { config: { ...config, definition: 'desk' }, works: ['charge', 'record', 'transfer'], isAnswered: true },
  'sub-agent': { config: { ...config, tools: ['helper'] }, works: ['charge', 'record', 'look_up'], isAnswered: true },
  files: { config: { ...config, definition: 'clerk' }, works: ['file', 'answer'], isAnswered: true },
  compaction: {
    config: { ...config, tools: WORKS.slice(1), limits: { consciousnessTokens: 900 } },
    works: WORKS,
    most: 9,
    isAnswered: true,
  },
  deletion: { config: { ...config, tools: WORKS.slice(1) }, works: WORKS, isDeleted: true, isAnswered: false },
  'spend limit': {
    config: { ...config, tools: PLAIN.slice(1) },
    works: PLAIN,
    spend: { perDayTokens: 500 },
    isAnswered: false,
  },
} satisfies Readonly<Record<string, Guest>>;

export type GuestName = keyof typeof GUESTS;

const NAMES = Object.keys(GUESTS) as GuestName[];

/** The guest of a world, if it has one: every second has. */
export function guestOf(seed: number): GuestName | undefined {
  return seed % 2 === 0 ? NAMES[(seed / 2) % NAMES.length] : undefined;
}

/** What the guest of this seed is asked for, and when it is deleted. */
export function actionsForGuest(name: GuestName, seed: number): readonly Action[] {
  const { works, most = 4, isDeleted = false }: Guest = GUESTS[name];
  const random = new Random(seed ^ 0x6e57);
  const posts = Array.from({ length: random.between(2, most) }, (_, index): Action => {
    const [at, what] = [100 + random.between(0, 10_000), random.oneOf(works)];
    return { kind: 'post', at, ref: `e${index + 1}`, agent: GUEST, what };
  });
  const deletion: Action = { kind: 'delete', at: 2_000 + random.between(0, 10_000), ref: 'deletion', agent: GUEST };
  return isDeleted ? [...posts, deletion] : posts;
}

/** Writes a file, in a place that the agent's other calls do not write to. */
const file = tool({
  description: 'Files a note.',
  inputSchema: { type: 'object', properties: { ref: { type: 'string' } }, required: ['ref'] } as const,
  effects: 'session',
  async execute({ ref }: { ref: string }, { filesystem }) {
    await filesystem.writeText('log.txt', `${ref}\n`, { mode: 'append' });
    return { filed: ref };
  },
});

/** The definitions of every gateway. A desk hands each request over from its front to its back, which has the tools. */
export function simDefinitions(tools: ToolSet): Definitions {
  const transition = (target: string) => ({
    description: `Goes to the ${target}.`,
    inputSchema: { type: 'object', properties: {} } as const,
    targets: [target],
    handler: () => to(target),
  });
  const front = node({ instructions: 'You are at the front.', transitions: { back: transition('back') } });
  const back = node({ instructions: 'You are at the back.', tools, transitions: { front: transition('front') } });
  const checked = checkDefinitions({
    desk: defineAgent({ machine: charter({ nodes: { front, back } }) }),
    clerk: defineAgent({ files: true, tools: { file } }),
  });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.value;
}
