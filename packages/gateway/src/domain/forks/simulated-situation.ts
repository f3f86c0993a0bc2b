import type { Settlement } from '@lastcall/core';
import type { Situation, SituationPlan } from '../agents/describe-agent.ts';
import { parseFrame } from '../frame.ts';
import { HIDDEN } from '../frame-tag.ts';

/*
 * What the agent of a fork knows about itself. It begins as the model of the original read it, and changes with what the fork's own calls
 * of built-in tools say. Nothing of it is stored: it follows from the calls, so a worker that takes the fork over finds the same.
 */

/** The situation that a request showed. Undefined if it showed none. */
export function parseSituation(observed: string): Situation | undefined {
  const [text] = SITUATION.exec(observed) ?? [];
  const lines = text === undefined ? undefined : parseFrame(text, 'situation')?.lines;
  if (lines === undefined) return undefined;
  const about = (what: string): readonly Line[] =>
    (lines as readonly Line[]).filter((line) => line.about === what).map(({ about: _about, ...rest }) => rest);
  const [agent] = about('you');
  const spaceId = about('active_space')[0]?.spaceId;
  return {
    agent: agent as unknown as Situation['agent'],
    activeSpaceId: typeof spaceId === 'string' ? spaceId : undefined,
    spaces: about('space') as unknown as Situation['spaces'],
    goals: about('goal') as unknown as Situation['goals'],
    memories: about('memory') as unknown as Situation['memories'],
    plans: about('plan').map(toPlan),
  };
}

const SITUATION = new RegExp(`^<situation-${HIDDEN}>\\n[^<]*</situation-${HIDDEN}>`);

type Line = Readonly<Record<string, unknown>>;

function toPlan({ nextAt, ...plan }: Line): SituationPlan {
  const at = typeof nextAt === 'string' ? Date.parse(nextAt) : Number.NaN;
  return { ...(plan as unknown as SituationPlan), ...(Number.isNaN(at) ? {} : { nextAt: at }) };
}

/** The situation after these calls. Calls that failed, and those of other tools, change nothing. */
export function afterCalls(situation: Situation, calls: readonly Settlement[]): Situation {
  return calls.reduce(afterCall, situation);
}

function afterCall(situation: Situation, { toolName, input, outcome }: Settlement): Situation {
  if (outcome.status !== 'ok') return situation;
  const asked = (input ?? {}) as Given;
  const said = (outcome.value ?? {}) as Told;
  switch (toolName) {
    case 'enter_space':
      return { ...situation, activeSpaceId: said.spaceId };
    case 'set_memories': {
      const memories = keyed(asked.memories, said.keys).map(({ key, value }) => ({ key, value }));
      return { ...situation, memories: upserted(situation.memories, memories) };
    }
    case 'set_goals':
      return { ...situation, goals: withGoals(situation.goals, keyed(asked.goals, said.keys)) };
    case 'set_plans': {
      const plans = (said.plans ?? []).map((plan, index) => toSetPlan(asked.plans?.[index] ?? {}, plan));
      return { ...situation, plans: upserted(situation.plans, plans).toSorted(byTime) };
    }
    case 'delete_memories':
      return { ...situation, memories: without(situation.memories, said.deleted) };
    case 'delete_goals':
      return { ...situation, goals: without(situation.goals, said.deleted) };
    case 'delete_plans':
      return { ...situation, plans: without(situation.plans, said.deleted) };
    default:
      return situation;
  }
}

/** The inputs of the built-in tools. */
interface Given {
  readonly memories?: readonly Line[];
  readonly goals?: readonly Line[];
  readonly plans?: readonly Line[];
}

/** Their outputs. */
interface Told {
  readonly spaceId?: string;
  readonly keys?: readonly string[];
  readonly deleted?: readonly string[];
  readonly plans?: readonly { readonly key: string; readonly nextAt?: string | null }[];
}

interface Keyed {
  readonly key: string;
}

function keyed(notes: readonly Line[] = [], keys: readonly string[] = []): readonly (Line & Keyed)[] {
  return notes.flatMap((note, index) => {
    const key = keys[index];
    return key === undefined ? [] : [{ ...note, key }];
  });
}

/** Notes of one call have the same time, so they are sorted by their keys. */
function upserted<T extends Keyed>(before: readonly T[], notes: readonly T[]): readonly T[] {
  const replaced = before.map((one) => notes.find(({ key }) => key === one.key) ?? one);
  const added = notes.filter(({ key }) => !before.some((one) => one.key === key));
  return [...replaced, ...added.toSorted((one, other) => (one.key < other.key ? -1 : 1))];
}

type Goal = Situation['goals'][number];

function withGoals(before: Situation['goals'], notes: readonly (Line & Keyed)[]): Situation['goals'] {
  const goals = notes.map(({ key, description, status, priority }): Goal => {
    const known = before.find((one) => one.key === key);
    return {
      key,
      description: String(description),
      status: status ?? known?.status ?? 'active',
      priority: priority ?? known?.priority ?? 0,
    };
  });
  return upserted(before, goals).toSorted((one, other) => Number(other.priority) - Number(one.priority));
}

function toSetPlan(
  { name, instruction, cron, timeZone = 'UTC' }: Line,
  { key, nextAt }: NonNullable<Told['plans']>[number],
): SituationPlan {
  const at = typeof nextAt === 'string' ? Date.parse(nextAt) : Number.NaN;
  return {
    key,
    name: String(name),
    instruction: String(instruction),
    ...(typeof cron === 'string' ? { cron: cron.trim(), timeZone: String(timeZone) } : {}),
    ...(Number.isNaN(at) ? {} : { nextAt: at }),
  };
}

function byTime(one: SituationPlan, other: SituationPlan): number {
  return (one.nextAt ?? Number.MAX_SAFE_INTEGER) - (other.nextAt ?? Number.MAX_SAFE_INTEGER);
}

function without<T extends Keyed>(notes: readonly T[], keys: readonly string[] = []): readonly T[] {
  return notes.filter(({ key }) => !keys.includes(key));
}
