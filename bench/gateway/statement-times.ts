import { createPool } from '../../packages/gateway/src/ports/store/postgres/postgres-pool.ts';

/** Whether PostgreSQL counts its statements. It costs a little, so it is asked for: `BENCH_STATEMENTS=1`. */
const COUNTS_STATEMENTS = process.env.BENCH_STATEMENTS === '1';

export const STATEMENT_SETTINGS: Readonly<Record<string, string>> = COUNTS_STATEMENTS
  ? { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.track_planning': 'on' }
  : {};

/** Runs the work and, where statements are counted, prints what each cost for one of so many messages. */
export async function countingStatements<T>(
  { settings }: { readonly settings: { readonly home: string } | { readonly databaseUrl: string } },
  messages: number,
  work: () => Promise<T>,
): Promise<T> {
  if (!COUNTS_STATEMENTS || !('databaseUrl' in settings)) return await work();
  await resetStatements(settings.databaseUrl);
  const done = await work();
  console.log(await statementTable(settings.databaseUrl, messages));
  return done;
}

async function resetStatements(url: string): Promise<void> {
  await query(url, 'create extension if not exists pg_stat_statements');
  await query(url, 'select pg_stat_statements_reset()');
}

/** What each statement cost per message, in microseconds, the most expensive first. */
async function statementTable(url: string, messages: number): Promise<string> {
  const rows = await query(
    url,
    `select calls, total_exec_time, total_plan_time, query from pg_stat_statements
     where dbid = (select oid from pg_database where datname = current_database())
     order by total_exec_time + total_plan_time desc`,
  );
  const line = ({ calls, total_exec_time, total_plan_time, query: text }: StatementRow): string =>
    [Number(calls) / messages, (total_exec_time * 1_000) / messages, (total_plan_time * 1_000) / messages]
      .map((figure) => figure.toFixed(2).padStart(8))
      .concat(text.replaceAll(/\s+/g, ' ').slice(0, 160))
      .join('  ');
  const sum = (of: (row: StatementRow) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const total: StatementRow = {
    calls: String(sum(({ calls }) => Number(calls))),
    total_exec_time: sum((row) => row.total_exec_time),
    total_plan_time: sum((row) => row.total_plan_time),
    query: 'all statements',
  };
  return ['per message: times, µs running, µs planning', ...[total, ...rows].map(line)].join('\n');
}

interface StatementRow {
  readonly calls: string;
  readonly total_exec_time: number;
  readonly total_plan_time: number;
  readonly query: string;
}

async function query(url: string, text: string): Promise<StatementRow[]> {
  const pool = createPool(url, 1);
  try {
    return (await pool.query<StatementRow>(text)).rows;
  } finally {
    await pool.end();
  }
}
