import { z } from 'zod';
import { findAgent } from '../../../domain/agents/agent.ts';
import { lockAgentIfExists } from '../../../domain/agents/lock-agent.ts';
import { ApiError, notFound } from '../../../domain/api-error.ts';
import type { Plan, PlanInput } from '../../../domain/plans/plan.ts';
import { deletePlans, listPlans, setPlans } from '../../../domain/plans/plans.ts';
import type { Tx } from '../../../ports/store/store.ts';
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

/** What operators set in the calendar of an agent. */
export const planEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/api/agents/{id}/plans',
    summary: 'Create a plan for an agent',
    description: `${ONE_SCHEDULE} ${NOT_BY_AGENT}`,
    access: 'key',
    body: z.strictObject({
      key: z.string().min(1).max(100).optional().meta({ description: 'Default: made from the name.' }),
      ...planFields,
    }),
    answer: planSchema,
    status: 201,
    refusals: [409],
    async handle({ params: { id }, body }, tx) {
      const plans = await plansOf(tx, id);
      if (plans.some(({ key }) => key === body.key)) throw exists(body.key);
      const [key = ''] = await setPlans(tx, id, [body as PlanInput], 'operator');
      return await planOf(tx, id, key);
    },
  }),
  endpoint({
    method: 'patch',
    path: '/api/agents/{id}/plans/{key}',
    summary: 'Update a plan of an agent',
    description: `Fields that are left out stay as they are. A plan that the agent set becomes the operator's. ${NOT_BY_AGENT}`,
    access: 'key',
    body: z.strictObject(planFields).partial(),
    answer: planSchema,
    async handle({ params: { id, key }, body }, tx) {
      await plansOf(tx, id);
      const stored = await planOf(tx, id, key);
      await setPlans(tx, id, [changed(stored, body)], 'operator');
      return await planOf(tx, id, key);
    },
  }),
  endpoint({
    method: 'delete',
    path: '/api/agents/{id}/plans/{key}',
    summary: 'Delete a plan of an agent',
    access: 'key',
    answer: z.strictObject({ key: z.string() }),
    async handle({ params: { id, key } }, tx) {
      await plansOf(tx, id);
      await planOf(tx, id, key);
      await deletePlans(tx, id, [key]);
      return { key };
    },
  }),
];

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

type ChangedPlan = { readonly [Field in keyof PlanInput]?: PlanInput[Field] | undefined };

/** A new schedule replaces the old one, also if it is of another kind. */
function changed({ key, name, instruction, cron, timeZone, at, misfire }: Plan, body: ChangedPlan): PlanInput {
  const isRescheduled = [body.cron, body.at, body.after].some((one) => one !== undefined);
  const schedule = cron === undefined ? { at } : { cron };
  return {
    key,
    name: body.name ?? name,
    instruction: body.instruction ?? instruction,
    misfire: body.misfire ?? misfire,
    timeZone: body.timeZone ?? timeZone,
    ...(isRescheduled ? { cron: body.cron, at: body.at, after: body.after } : schedule),
  };
}

function exists(key: string | undefined): ApiError {
  return new ApiError('id_taken', `The agent has a plan "${key}". Change it with PATCH, or use another key.`, {
    details: { key },
  });
}
