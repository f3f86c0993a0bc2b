import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../../dialect.ts';
import { typesOf } from './0001-initial.ts';

/** Cases of evaluations and their results. tables.ts explains the columns. */
export function evaluations(dialect: Dialect): Migration {
  const { text } = typesOf(dialect);
  return {
    async up(db) {
      const statements = [
        `create table evaluations (
    id ${text} primary key,
    project_id ${text} not null,
    name ${text} not null,
    created_at bigint not null,
    constraint evaluations_name unique (project_id, name)
  )`,
        `create table evaluation_cases (
    id ${text} primary key,
    evaluation_id ${text} not null,
    name ${text} not null,
    input ${text} not null,
    expected ${text} not null,
    run_id ${text} not null,
    created_at bigint not null,
    constraint evaluation_cases_run unique (evaluation_id, run_id)
  )`,
        'create index evaluation_cases_by_run on evaluation_cases (run_id)',
        `create table evaluation_reports (
    id ${text} primary key,
    evaluation_id ${text} not null,
    version ${text} not null,
    scores ${text} not null,
    samples bigint not null,
    failed bigint not null,
    tokens bigint,
    cost double precision,
    created_at bigint not null
  )`,
        'create index evaluation_reports_by_evaluation on evaluation_reports (evaluation_id, created_at)',
        `create table evaluation_samples (
    report_id ${text} not null,
    number bigint not null,
    case_name ${text} not null,
    sample bigint not null,
    scores ${text} not null,
    failed bigint not null,
    ms bigint not null,
    tokens bigint,
    cost double precision,
    run_id ${text},
    details ${text},
    constraint evaluation_samples_pk primary key (report_id, number)
  )`,
        'create index evaluation_samples_by_run on evaluation_samples (run_id) where run_id is not null',
        // See 0047-erasures.ts.
        ...(dialect === 'postgres' ? PERSONAL.map((column) => `alter table ${column} set statistics 0`) : []),
      ];
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

const PERSONAL = [
  ...['name', 'input', 'expected'].map((column) => `evaluation_cases alter column ${column}`),
  ...['case_name', 'details'].map((column) => `evaluation_samples alter column ${column}`),
];
