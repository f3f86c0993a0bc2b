import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';

/**
 * The conversations that an entity may use with its token: its own ones, while it shares a space with their agent, and those that a
 * key gave it. It is checked with every request, so that a person who is removed from the space loses access at once.
 */
export function usableBy(entityId: string): (eb: ExpressionBuilder<Tables, 'contexts'>) => Expression<SqlBool> {
  return (eb) =>
    eb.and([
      eb('contexts.owner_id', '=', entityId),
      eb.or([
        eb('contexts.is_given', '=', 1),
        eb.exists(
          eb
            .selectFrom('memberships as theirs')
            .innerJoin('memberships as agents', 'agents.space_id', 'theirs.space_id')
            .select('theirs.space_id')
            .where('theirs.entity_id', '=', entityId)
            .where('theirs.left_at', 'is', null)
            .whereRef('agents.entity_id', '=', 'contexts.agent_id')
            .where('agents.left_at', 'is', null),
        ),
      ]),
    ]);
}
