import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { chunks } from '../chunks.ts';

/** The kind of id by which the project of a row is found. */
type OwnerKind = 'agent' | 'space' | 'thread' | 'run' | 'evaluation' | 'report';

/** The column of each searched table that names its owner. Texts of requests have none: equal texts of all projects are one row. */
const OWNERS: { readonly [T in keyof Tables]?: readonly [column: string, kind: OwnerKind | 'stream'] } = {
  agent_failures: ['space_id', 'space'],
  agents: ['id', 'agent'],
  calls: ['agent_id', 'agent'],
  evaluation_cases: ['evaluation_id', 'evaluation'],
  evaluation_samples: ['report_id', 'report'],
  file_undo: ['thread_id', 'thread'],
  files: ['thread_id', 'thread'],
  forks: ['thread_id', 'thread'],
  goals: ['agent_id', 'agent'],
  inbox_events: ['thread_id', 'thread'],
  memories: ['agent_id', 'agent'],
  messages: ['space_id', 'space'],
  plans: ['agent_id', 'agent'],
  runs: ['thread_id', 'thread'],
  stream_events: ['stream', 'stream'],
  sub_agent_turns: ['run_id', 'run'],
  threads: ['id', 'thread'],
  transcript_entries: ['thread_id', 'thread'],
};

/** The column that has to be read to know whose a row is. */
export function ownerColumn(table: keyof Tables): string | undefined {
  return OWNERS[table]?.[0];
}

/** The beginning of the name of a stream says what its id is: see stream-names.ts. */
const STREAMS: Readonly<Record<string, OwnerKind>> = { space: 'space', run: 'run', jobs: 'agent' };

interface Searched {
  readonly table: keyof Tables;
  /** The project of the erasure. */
  readonly project: string;
  /** Values of the owner's column. */
  readonly owners: readonly string[];
}

/** Those of the owners that belong to another project. Owners that no longer exist belong to none. */
export async function ofOtherProjects(
  db: Kysely<Tables>,
  { table, project, owners }: Searched,
): Promise<ReadonlySet<string>> {
  const kind = OWNERS[table]?.[1];
  const foreign = new Set<string>();
  if (kind === undefined) return foreign;
  const named = [...new Set(owners)].map((owner) => ({
    owner,
    ...(kind === 'stream' ? inStream(owner) : { kind, id: owner }),
  }));
  for (const [kind, some] of Map.groupBy(named, (one) => one.kind)) {
    if (kind === undefined) continue;
    for (const few of chunks(some, 500)) {
      const ids = few.map(({ id }) => id);
      const found = new Set((await LOOKUPS[kind](db, ids, project).execute()).map(({ id }) => id));
      for (const { owner, id } of few) if (found.has(id)) foreign.add(owner);
    }
  }
  return foreign;
}

function inStream(stream: string): { readonly kind: OwnerKind | undefined; readonly id: string } {
  const [prefix = ''] = stream.split(':', 1);
  return { kind: STREAMS[prefix], id: stream.slice(prefix.length + 1) };
}

type Lookup = (
  db: Kysely<Tables>,
  ids: readonly string[],
  project: string,
) => { execute(): Promise<readonly { readonly id: string }[]> };

const LOOKUPS: Readonly<Record<OwnerKind, Lookup>> = {
  agent: (db, ids, project) =>
    db.selectFrom('agents').select('id').where('id', 'in', ids).where('project_id', '!=', project),
  space: (db, ids, project) =>
    db.selectFrom('spaces').select('id').where('id', 'in', ids).where('project_id', '!=', project),
  thread: (db, ids, project) =>
    db
      .selectFrom('threads')
      .innerJoin('agents', 'agents.id', 'threads.agent_id')
      .select('threads.id')
      .where('threads.id', 'in', ids)
      .where('agents.project_id', '!=', project),
  run: (db, ids, project) =>
    db
      .selectFrom('runs')
      .innerJoin('threads', 'threads.id', 'runs.thread_id')
      .innerJoin('agents', 'agents.id', 'threads.agent_id')
      .select('runs.id')
      .where('runs.id', 'in', ids)
      .where('agents.project_id', '!=', project),
  evaluation: (db, ids, project) =>
    db.selectFrom('evaluations').select('id').where('id', 'in', ids).where('project_id', '!=', project),
  report: (db, ids, project) =>
    db
      .selectFrom('evaluation_reports')
      .innerJoin('evaluations', 'evaluations.id', 'evaluation_reports.evaluation_id')
      .select('evaluation_reports.id')
      .where('evaluation_reports.id', 'in', ids)
      .where('evaluations.project_id', '!=', project),
};
