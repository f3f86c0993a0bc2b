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
  `update memberships set number = (
     select count(*) from memberships other
     where other.entity_id = memberships.entity_id
       and (other.joined_at < memberships.joined_at
         or (other.joined_at = memberships.joined_at and other.space_id <= memberships.space_id)))`,
  `update entities set spaces_joined = (select count(*) from memberships where memberships.entity_id = entities.id)
     where id in (select entity_id from memberships)`,
];
