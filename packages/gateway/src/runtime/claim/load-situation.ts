import { type Kysely, sql } from 'kysely';
import type { Situation, SituationPlan } from '../../domain/agents/describe-agent.ts';
import { toGoal } from '../../domain/memory/goal.ts';
import { goalsOf } from '../../domain/memory/goals.ts';
import { memoriesOf } from '../../domain/memory/memories.ts';
import { toMemory } from '../../domain/memory/memory.ts';
import { type Plan, toPlan } from '../../domain/plans/plan.ts';
import { plansOf } from '../../domain/plans/plans.ts';
import { batchReads } from '../../ports/store/batch-reads.ts';
import { pipeline } from '../../ports/store/pipeline.ts';
import type { AgentRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';

/** An agent in more spaces than this learns of the others through `enter_space`. */
const MAX_SPACES = 50;

/** An agent's stored data and the spaces it may enter. */
export type StoredSituation = Omit<Situation, 'agent' | 'activeSpaceId'>;

/** Reads the agent and its spaces, goals, memories and plans. */
export async function loadSituation(db: Kysely<Tables>, agentId: string): Promise<Situation> {
  const [[own], stored] = await pipeline(findOwn(db, { agentId }), loadStoredSituation(db, agentId));
  const { entity_id = agentId, name = '', active_space_id = null } = own ?? {};
  return toSituation({ entity_id, name, active_space_id }, stored);
}

export function toSituation(
  { entity_id: entityId, name, active_space_id }: Pick<AgentRow, 'entity_id' | 'name' | 'active_space_id'>,
  stored: StoredSituation,
): Situation {
  return { agent: { entityId, name }, activeSpaceId: active_space_id ?? undefined, ...stored };
}

export async function loadStoredSituation(db: Kysely<Tables>, agentId: string): Promise<StoredSituation> {
  const { spaces, goals, memories, plans } = await readStoredSituation(db, { agentId });
  return {
    spaces,
    goals: goals.map(toGoal).map(({ key, description, status, priority }) => ({ key, description, status, priority })),
    memories: memories.map(toMemory).map(({ key, value }) => ({ key, value })),
    // Finished plans are left out: the agent cannot use them.
    plans: plans
      .map(toPlan)
      .filter(({ nextAt }) => nextAt !== undefined)
      .map(toSituationPlan),
  };
}

interface AgentParams {
  readonly agentId: string;
}

const findOwn = statement((db, { agentId }: Params<AgentParams>) =>
  db.selectFrom('agents').select(['entity_id', 'name', 'active_space_id']).where('id', '=', agentId),
);

const readStoredSituation = batchReads<AgentParams>({ types: { agentId: 'text' } })({
  spaces: (db, { agentId }) =>
    db
      .selectFrom('agents')
      .innerJoin('memberships', 'memberships.entity_id', 'agents.entity_id')
      .innerJoin('spaces', 'spaces.id', 'memberships.space_id')
      .select(['spaces.id as spaceId', 'memberships.number', 'spaces.name', 'spaces.description'])
      .where('agents.id', '=', agentId)
      .where('memberships.left_at', 'is', null)
      .where('spaces.archived_at', 'is', null)
      .orderBy('memberships.number')
      .limit(sql.lit(MAX_SPACES)),
  goals: goalsOf,
  memories: memoriesOf,
  plans: plansOf,
});

function toSituationPlan(plan: Plan): SituationPlan {
  const { key, name, instruction, nextAt, setBy } = plan;
  const schedule = 'cron' in plan ? { cron: plan.cron, timeZone: plan.timeZone } : {};
  const setter = setBy === 'agent' ? {} : { setBy };
  return { key, name, instruction, ...schedule, ...(nextAt === undefined ? {} : { nextAt }), ...setter };
}
