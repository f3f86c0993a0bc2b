import type { Kysely } from 'kysely';
import type { Situation, SituationPlan } from '../agents/describe-agent.ts';
import { listGoals } from '../goals/goals.ts';
import { listMemories } from '../memories/memories.ts';
import type { Plan } from '../plans/plan.ts';
import { listPlans } from '../plans/plans.ts';
import { listSpaces } from '../spaces/space.ts';
import type { Tables } from '../store/tables.ts';
import { together } from '../store/together.ts';
import type { CycleAgent } from './cycle-context.ts';

/** More spaces than that are for `enter_space` to know. */
const MOST_SPACES = 50;

/** Where the agent is and what it keeps, as of now. */
export async function loadSituation(db: Kysely<Tables>, agent: CycleAgent): Promise<Situation> {
  const [own, spaces, goals, memories, plans] = await together(
    db.selectFrom('agents').select('active_space_id').where('id', '=', agent.id).executeTakeFirst(),
    listSpaces(db, { entityId: agent.entityId, limit: MOST_SPACES }),
    listGoals(db, agent.id),
    listMemories(db, agent.id),
    listPlans(db, agent.id),
  );
  return {
    agent: { entityId: agent.entityId, name: agent.name },
    activeSpaceId: own?.active_space_id ?? undefined,
    spaces: spaces.items.map(({ id, name, description }) => ({ spaceId: id, name, description })),
    goals: goals.map(({ key, description, status, priority }) => ({ key, description, status, priority })),
    memories: memories.map(({ key, value }) => ({ key, value })),
    // Those that are over are of no use to it.
    plans: plans.filter(({ nextAt }) => nextAt !== undefined).map(toSituationPlan),
  };
}

function toSituationPlan(plan: Plan): SituationPlan {
  const { key, name, instruction, nextAt } = plan;
  const schedule = 'cron' in plan ? { cron: plan.cron, timeZone: plan.timeZone } : {};
  return { key, name, instruction, ...schedule, ...(nextAt === undefined ? {} : { nextAt }) };
}
