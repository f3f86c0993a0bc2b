import { type Kysely, sql } from 'kysely';
import type { Situation, SituationPlan } from '../agents/describe-agent.ts';
import { listGoals } from '../goals/goals.ts';
import { listMemories } from '../memories/memories.ts';
import type { Plan } from '../plans/plan.ts';
import { listPlans } from '../plans/plans.ts';
import { statement } from '../store/statement.ts';
import type { Tables } from '../store/tables.ts';
import { together } from '../store/together.ts';

/** More spaces than that are for `enter_space` to know. */
const MOST_SPACES = 50;

/** Where the agent is and what it keeps, as of now. */
export async function loadSituation(db: Kysely<Tables>, agentId: string): Promise<Situation> {
  const [[own], spaces, goals, memories, plans] = await together(
    findOwn(db, { agentId }),
    spacesOf(db, { agentId }),
    listGoals(db, agentId),
    listMemories(db, agentId),
    listPlans(db, agentId),
  );
  return {
    agent: { entityId: own?.entity_id ?? agentId, name: own?.name ?? '' },
    activeSpaceId: own?.active_space_id ?? undefined,
    spaces,
    goals: goals.map(({ key, description, status, priority }) => ({ key, description, status, priority })),
    memories: memories.map(({ key, value }) => ({ key, value })),
    // Those that are over are of no use to it.
    plans: plans.filter(({ nextAt }) => nextAt !== undefined).map(toSituationPlan),
  };
}

const findOwn = statement((db, { agentId }: { agentId: string }) =>
  db.selectFrom('agents').select(['entity_id', 'name', 'active_space_id']).where('id', '=', agentId),
);

const spacesOf = statement((db, { agentId }: { agentId: string }) =>
  db
    .selectFrom('spaces')
    .select(['id as spaceId', 'name', 'description'])
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('memberships')
        .innerJoin('agents', 'agents.entity_id', 'memberships.entity_id')
        .select('memberships.space_id')
        .where('agents.id', '=', agentId)
        .where('memberships.left_at', 'is', null),
    )
    .orderBy('id')
    .limit(sql.lit(MOST_SPACES)),
);

function toSituationPlan(plan: Plan): SituationPlan {
  const { key, name, instruction, nextAt } = plan;
  const schedule = 'cron' in plan ? { cron: plan.cron, timeZone: plan.timeZone } : {};
  return { key, name, instruction, ...schedule, ...(nextAt === undefined ? {} : { nextAt }) };
}
