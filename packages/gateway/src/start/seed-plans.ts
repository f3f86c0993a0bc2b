import type { PlanSeed } from '../config/plan-seed.ts';
import { readRows } from '../domain/entities/page.ts';
import { type Plan, toPlan } from '../domain/plans/plan.ts';
import { deletePlans, planRows, setPlans } from '../domain/plans/plans.ts';
import { parseTimeZone } from '../domain/plans/schedule.ts';
import { inFile } from './in-file.ts';
import type { Seeding } from './seed-space.ts';

/**
 * Makes the plans of an agent match the file. A plan that did not change keeps its next time; one that the file no longer has is
 * deleted. Plans of the agent itself and of operators are left, unless the file names their key.
 */
export async function seedPlans(
  { tx, seeded, log, agentLimits: defaults }: Seeding,
  agentName: string,
  plans: readonly PlanSeed[],
): Promise<void> {
  const agentId = seeded.agents[agentName];
  if (agentId === undefined) return;
  const rows = await planRows(tx.db, { agentId });
  // A damaged plan that the file has is set again.
  const { items: stored } = readRows(rows, { idOf: ({ key }) => key, toItem: toPlan });
  const wanted = plans.filter(({ agent }) => agent === agentName);
  // First, because they count towards the limit of plans.
  const dropped = rows.filter(({ key, set_by: setBy }) => setBy === 'file' && !wanted.some((one) => one.key === key));
  await deletePlans(
    tx,
    agentId,
    dropped.map(({ key }) => key),
  );
  for (const { key } of dropped)
    log(
      `Deleted the plan ${JSON.stringify(key)} of the agent ${JSON.stringify(agentName)}: the configuration no longer has it.`,
    );
  for (const { agent: _agent, name, ...plan } of wanted) {
    const seed = { ...plan, name: name ?? plan.key };
    await inFile(`plan ${JSON.stringify(seed.key)}`, async () => {
      if (stored.some((one) => isSame(one, seed))) return;
      await setPlans(tx, agentId, [seed], { setter: 'file', defaults });
      log(`Set the plan ${JSON.stringify(seed.key)} of the agent ${JSON.stringify(agentName)}.`);
    });
  }
}

function isSame(
  stored: Plan,
  { key, name, instruction, cron, timeZone = 'UTC', misfire = 'once' }: Omit<PlanSeed, 'agent'>,
): boolean {
  return (
    stored.setBy === 'file' &&
    stored.key === key &&
    stored.name === name &&
    stored.instruction === instruction &&
    stored.cron === cron.trim() &&
    // A time zone may have several names, and one of them is stored.
    stored.timeZone === parseTimeZone(timeZone) &&
    stored.misfire === misfire
  );
}
