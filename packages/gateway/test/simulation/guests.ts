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
  /** The agent has a separate project, which may spend this. */
  readonly spend?: DaySpendLimits;
  /** Approvals of the agent's calls grant later ones too, and the grants are revoked at some time. */
  readonly isGranted?: boolean;
  /** The agent is deleted at some time. */
  readonly isDeleted?: boolean;
  /** False if a request may stay without an answer, because the agent is deleted or has no money left. */
  readonly isAnswered: boolean;
}

export const GUEST = 'Gil';

const config = { name: GUEST, instructions: `You are ${GUEST}.`, replies: 'tools' as const };
const PLAIN: readonly [string, ...string[]] = ['answer', 'charge', 'record', 'look_up'];

/** How many requests there are at most, and which of them a grant covers. */
const GRANTED_MOST = 6;
export const GRANTED_REFS = ['e1', 'e2', 'e3', 'e4'];

/** Law Z4 names them, Z3 the grants. Spaces, approvals, answers, plans, conversations and sessions are in every world. */
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
  grants: {
    config: { ...config, tools: ['transfer'] },
    works: ['transfer'],
    most: GRANTED_MOST,
    isGranted: true,
    isAnswered: true,
  },
} satisfies Readonly<Record<string, Guest>>;

export type GuestName = keyof typeof GUESTS;

const ON_EVEN_SEEDS = (Object.keys(GUESTS) as GuestName[]).filter((name) => name !== 'grants');

/** The guest of a world, if it has one. Grants were added later with separate seeds, so that the worlds of the others did not change. */
export function guestOf(seed: number): GuestName | undefined {
  if (seed % 14 === 7) return 'grants';
  return seed % 2 === 0 ? ON_EVEN_SEEDS[(seed / 2) % ON_EVEN_SEEDS.length] : undefined;
}

/** What the guest of this seed is asked for, and when it is deleted or its grants are revoked. */
export function actionsForGuest(name: GuestName, seed: number, beginMs: number): readonly Action[] {
  const { works, most = 4, isDeleted = false, isGranted = false }: Guest = GUESTS[name];
  const random = new Random(seed ^ 0x6e57);
  const posts = Array.from({ length: random.between(2, most) }, (_, index): Action => {
    const [at, what] = [100 + random.between(0, beginMs), random.oneOf(works)];
    return { kind: 'post', at, ref: `e${index + 1}`, agent: GUEST, what };
  });
  const at = 2_000 + random.between(0, beginMs);
  if (isDeleted) posts.push({ kind: 'delete', at, ref: 'deletion', agent: GUEST });
  if (isGranted) posts.push({ kind: 'revoke', at: at + 4_000, ref: 'revocation', agent: GUEST });
  return posts;
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
