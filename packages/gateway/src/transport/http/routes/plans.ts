import { z } from 'zod';
import type { AgentLimitsInput } from '../../../config/agent-limits.ts';
import { findAgent } from '../../../domain/agents/agent.ts';
import { lockAgentIfExists } from '../../../domain/agents/lock-agent.ts';
import { ApiError, notFound } from '../../../domain/api-error.ts';
import { changePlan, type PlanChange } from '../../../domain/plans/change-plan.ts';
import type { Plan, PlanInput } from '../../../domain/plans/plan.ts';
import { deletePlans, listPlans, setPlans } from '../../../domain/plans/plans.ts';
import type { Tx } from '../../../ports/store/store.ts';
import type { Registry } from '../../../runtime/toolset/registry.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { planSchema } from './agent-state.ts';

const time = z.union([z.string().max(200), z.number()]);

const planFields = {
  name: z.string().min(1).max(200),
  instruction: z.string().min(1).meta({ description: 'What the agent is told when the plan is due.' }),
  cron: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'Five fields, or six with seconds first, or `@daily` and the like.' }),
  at: time.optional().meta({ description: 'An ISO 8601 time, or milliseconds since the epoch.' }),
  after: time.optional().meta({ description: 'An ISO 8601 duration, or milliseconds.' }),
  timeZone: z.string().max(200).optional().meta({ description: 'An IANA name. Default UTC.' }),
  misfire: z.enum(['once', 'skip']).optional().meta({
    description: 'After downtime: `once` (default) is due one time for all missed times, `skip` not at all.',
  }),
};

const ONE_SCHEDULE = 'Exactly one of `cron`, `at` and `after` says when.';
const NOT_BY_AGENT = 'The agent sees that an operator set the plan, and cannot change or delete it.';
const UPDATE = `Fields that are left out stay as they are. Without \`cron\`, \`at\`, \`after\` and \`timeZone\` its times stay, too. A plan that the agent set becomes the operator's. ${NOT_BY_AGENT}`;

const keyField = z.string().min(1).max(100);
const deletedSchema = z.strictObject({ key: z.string() });

/** What operators set in the calendar of an agent. */
export const planEndpoints = ({ agentLimits: defaults }: Pick<Registry, 'agentLimits'>): readonly Endpoint[] => [
  endpoint({
    method: 'post',
    path: '/api/agents/{id}/plans',
    summary: 'Create a plan for an agent',
    description: `${ONE_SCHEDULE} ${NOT_BY_AGENT}`,
    access: 'key',
    body: z.strictObject({
      key: keyField.optional().meta({ description: 'Default: made from the name.' }),
      ...planFields,
    }),
    answer: planSchema,
    status: 201,
    refusals: [409],
    async handle({ params: { id }, body }, tx) {
      const plans = await plansOf(tx, id);
      if (plans.some(({ key }) => key === body.key)) throw exists(body.key);
      const [key = ''] = await setPlans(tx, id, [body as PlanInput], { setter: 'operator', defaults });
      return await planOf(tx, id, key);
    },
  }),
  endpoint({
    method: 'patch',
    path: '/api/agents/{id}/plans/{key}',
    summary: 'Update a plan of an agent',
    description: UPDATE,
    access: 'key',
    body: z.strictObject(planFields).partial(),
    answer: planSchema,
    handle: ({ params: { id, key }, body }, tx) => update(tx, { id, key, defaults }, body),
  }),
  endpoint({
    method: 'patch',
    path: '/api/agents/{id}/plans',
    summary: 'Update the plan with the key in the body',
    description: UPDATE,
    access: 'key',
    body: z.strictObject({ ...z.strictObject(planFields).partial().shape, key: keyField }),
    answer: planSchema,
    handle: ({ params: { id }, body: { key, ...change } }, tx) => update(tx, { id, key, defaults }, change),
  }),
  endpoint({
    method: 'delete',
    path: '/api/agents/{id}/plans/{key}',
    summary: 'Delete a plan of an agent',
    access: 'key',
    answer: deletedSchema,
    handle: ({ params }, tx) => remove(tx, params),
  }),
  endpoint({
    method: 'delete',
    path: '/api/agents/{id}/plans',
    summary: 'Delete the plan with the key in the query',
    access: 'key',
    query: z.strictObject({ key: keyField }),
    answer: deletedSchema,
    handle: ({ params: { id }, query: { key } }, tx) => remove(tx, { id, key }),
  }),
];

interface PlanPath {
  /** Of the agent. */
  readonly id: string;
  readonly key: string;
}

interface UpdatedPath extends PlanPath {
  readonly defaults: AgentLimitsInput;
}

async function update(tx: Tx, { id, key, defaults }: UpdatedPath, change: PlanChange): Promise<Plan> {
  await plansOf(tx, id);
  await changePlan(tx, { agentId: id, plan: await planOf(tx, id, key), defaults }, change);
  return await planOf(tx, id, key);
}

async function remove(tx: Tx, { id, key }: PlanPath): Promise<{ readonly key: string }> {
  await plansOf(tx, id);
  await planOf(tx, id, key);
  await deletePlans(tx, id, [key]);
  return { key };
}

/** The plans of an agent that exists. Its row is locked, so that two requests do not both find room for one more. */
async function plansOf(tx: Tx, agentId: string): Promise<readonly Plan[]> {
  await findAgent(tx.db, agentId);
  await lockAgentIfExists(tx, agentId, 'inbox');
  return await listPlans(tx.db, agentId);
}

async function planOf({ db }: Tx, agentId: string, key: string): Promise<Plan> {
  const plan = (await listPlans(db, agentId)).find((one) => one.key === key);
  if (plan === undefined) throw notFound('plan', key);
  return plan;
}

function exists(key: string | undefined): ApiError {
  return new ApiError('id_taken', `The agent has a plan "${key}". Change it with PATCH, or use another key.`, {
    details: { key },
  });
}
