import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** An agent knows its spaces by numbers. tables.ts explains the columns. */
export const spaceNumbers: Migration = {
  async up(db) {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const STATEMENTS = [
  'alter table memberships add column number bigint',
  'alter table entities add column spaces_joined bigint default 0 not null',
  // Each membership is read once: an agent may be in tens of thousands of spaces.
  `update memberships set number = numbered.number from (
     select space_id, entity_id, row_number() over (partition by entity_id order by joined_at, space_id) as number
     from memberships) as numbered
     where numbered.space_id = memberships.space_id and numbered.entity_id = memberships.entity_id`,
  `update entities set spaces_joined = (select count(*) from memberships where memberships.entity_id = entities.id)
     where id in (select entity_id from memberships)`,
];
