import type { AgentLimitsInput } from '../../config/agent-limits.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import { assertLength, noteLimits } from '../memory/note-limits.ts';
import { parseNotes } from '../memory/parse-notes.ts';
import { type Plan, type PlanInput, planInputSchema } from './plan.ts';
import { setPlans } from './plans.ts';
import { parseTimeZone } from './schedule.ts';

/** The fields of a plan that change. The others stay as they are. */
export type PlanChange = { readonly [Field in keyof Omit<PlanInput, 'key'>]?: PlanInput[Field] | undefined };

/**
 * Changes a plan for an operator. Its times stay, unless a schedule is given, or another time zone for a pattern: a plan that has fired does
 * not fire again for another name, and one that is due is not forgotten.
 */
export async function changePlan(
  tx: Tx,
  { agentId, plan: listed, defaults }: ChangedPlan,
  change: PlanChange,
): Promise<void> {
  const plan = { ...listed, timeZone: await timeZoneOf(tx, listed) };
  const isOtherZone = plan.cron !== undefined && change.timeZone !== undefined;
  if (hasSchedule(change) || isOtherZone)
    await setPlans(tx, agentId, [replaced(plan, change)], { setter: 'operator', defaults });
  else await changeWords(tx, { agentId, plan, defaults }, change);
}

interface ChangedPlan<P = Plan> {
  readonly agentId: string;
  readonly plan: P;
  /** The limits of agents that set none. */
  readonly defaults?: AgentLimitsInput | undefined;
}

/** A plan with a fixed time is listed without its time zone, in which a later time without an offset is read. */
async function timeZoneOf({ db }: Tx, { id }: Plan): Promise<string> {
  const plan = db.selectFrom('plans').select('time_zone').where('id', '=', id);
  return (await plan.executeTakeFirstOrThrow()).time_zone;
}

type ZonedPlan = Plan & { readonly timeZone: string };

function hasSchedule({ cron, at, after }: PlanChange): boolean {
  return [cron, at, after].some((one) => one !== undefined);
}

/** A new schedule replaces the old one, also if it is of another kind. */
function replaced({ key, name, instruction, cron, timeZone, misfire }: ZonedPlan, change: PlanChange): PlanInput {
  return {
    key,
    name: change.name ?? name,
    instruction: change.instruction ?? instruction,
    misfire: change.misfire ?? misfire,
    timeZone: change.timeZone ?? timeZone,
    ...(hasSchedule(change) ? { cron: change.cron, at: change.at, after: change.after } : { cron }),
  };
}

async function changeWords(
  tx: Tx,
  { agentId, plan, defaults }: ChangedPlan<ZonedPlan>,
  change: PlanChange,
): Promise<void> {
  const { key } = plan;
  const told = { name: change.name ?? plan.name, instruction: change.instruction ?? plan.instruction };
  const [{ name, instruction } = told] = parseNotes('plans', planInputSchema, [told]);
  const { noteLength } = await noteLimits(tx.db, agentId, defaults);
  assertLength(`The instruction of plan "${key}"`, instruction, noteLength);
  await tx.db
    .updateTable('plans')
    .set({
      name: toJson(name),
      instruction: toJson(instruction),
      misfire: change.misfire ?? plan.misfire,
      // It does not move a plan with a fixed time. A later time without an offset is read in it.
      time_zone: change.timeZone === undefined ? plan.timeZone : parseTimeZone(change.timeZone),
      set_by: 'operator',
      updated_at: tx.now(),
    })
    .where('agent_id', '=', agentId)
    .where('key', '=', key)
    .execute();
}
