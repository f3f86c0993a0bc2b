import type { Kysely } from 'kysely';
import type { AgentRow, Tables } from '../../ports/store/schema/tables.ts';
import { EVERYTHING, inView, type View } from '../projects/view.ts';
import { isOrdinary } from './tool-caller.ts';

interface ActiveAgents {
  readonly sharingWith?: string | undefined;
  readonly orderBy?: 'id' | 'name';
  readonly view?: View | undefined;
}

/** The agents that can be talked to: all of them, or those that share a space with the entity. Oldest first, or by name. */
export async function listActiveAgents(
  db: Kysely<Tables>,
  { sharingWith, orderBy = 'id', view = EVERYTHING }: ActiveAgents = {},
): Promise<readonly AgentRow[]> {
  let agents = db
    .selectFrom('agents')
    .selectAll()
    .where('status', '=', 'active')
    .where(isOrdinary)
    .where(inView(view, 'agents'));
  if (sharingWith !== undefined)
    agents = agents.where('entity_id', 'in', (eb) =>
      eb
        .selectFrom('memberships as agents_own')
        .innerJoin('memberships as theirs', 'theirs.space_id', 'agents_own.space_id')
        .select('agents_own.entity_id')
        .where('theirs.entity_id', '=', sharingWith)
        .where('theirs.left_at', 'is', null)
        .where('agents_own.left_at', 'is', null),
    );
  return await agents.orderBy(orderBy).orderBy('id').execute();
}
