import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { invalid } from '../entities/invalid.ts';
import { EVERYTHING, throughAgents, type View } from '../projects/view.ts';
import type { UsageKind } from './usage-row.ts';

/** What requests are added up by. */
export const USAGE_KEYS = ['agent', 'model', 'day', 'entity', 'kind'] as const;
export type UsageKey = (typeof USAGE_KEYS)[number];

const COLUMN: Readonly<Record<UsageKey, string>> = {
  agent: 'agent_id',
  model: 'model',
  day: 'day',
  entity: 'entity_id',
  kind: 'kind',
};

export interface UsageFilter {
  readonly by: readonly UsageKey[];
  /** The first day, and the last: `2026-01-31`, in UTC. Default: the last 30 days. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly agentId?: string | undefined;
  readonly entityId?: string | undefined;
  /** Default: those of all projects. */
  readonly view?: View | undefined;
  readonly now: number;
}

/** Requests to models, added up. */
interface UsageItem {
  readonly agent?: string;
  readonly agentName?: string;
  readonly model?: string;
  readonly day?: string;
  /** Null for requests that no person caused. */
  readonly entity?: string | null;
  readonly entityName?: string;
  readonly kind?: UsageKind;
  readonly requests: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** Null if the price of a model is not configured: a partial sum would look like the total. */
  readonly cost: number | null;
  readonly currency: string;
  /** True if a provider counted nothing for a request, and the gateway estimated its tokens. */
  readonly estimated: boolean;
}

export interface UsageReport {
  readonly from: string;
  readonly to: string;
  readonly items: readonly UsageItem[];
  /** Set if there are more items than one answer has. */
  readonly truncated?: true;
}

const MOST_ITEMS = 10_000;
const DEFAULT_DAYS = 30;

/** Adds up the requests of these days. Newest day first, then the most tokens. */
export async function usageReport(db: Kysely<Tables>, filter: UsageFilter): Promise<UsageReport> {
  const { by, now, agentId, entityId, view = EVERYTHING } = filter;
  const to = filter.to ?? new Date(now).toISOString().slice(0, 10);
  const from = filter.from ?? new Date(Date.parse(to) - (DEFAULT_DAYS - 1) * 86_400_000).toISOString().slice(0, 10);
  if (from > to) throw invalid('from', 'must not be after to.');
  const columns = by.map((key) => sql.ref(COLUMN[key]));
  const conditions = [
    sql`day >= ${from} and day <= ${to}`,
    throughAgents(view, 'agent_id'),
    ...(agentId === undefined ? [] : [sql`agent_id = ${agentId}`]),
    ...(entityId === undefined ? [] : [sql`entity_id = ${entityId}`]),
  ];
  const where = sql.join(conditions, sql` and `);
  const amounts = sql`currency, requests, input_tokens, cached_tokens, output_tokens, cost, unpriced, estimated`;
  const grouped = sql.join([...columns, sql`currency`]);
  const order = sql.join([...(by.includes('day') ? [sql`day desc`] : []), sql`tokens desc`, ...columns, sql`currency`]);
  const { rows } = await sql<SumRow>`
    select ${grouped}, ${sum('requests')}, ${sum('input_tokens')}, ${sum('cached_tokens')}, ${sum('output_tokens')},
      ${sum('unpriced')}, ${sum('estimated')}, sum(cost) as cost, sum(input_tokens + output_tokens) as tokens
    from (
      select day, agent_id, model, entity_id, kind, ${amounts} from usage where ${where}
      union all
      select day, agent_id, model, entity_id, kind, ${amounts} from usage_requests where reserved = 0 and ${where}
    ) as counted
    group by ${grouped} order by ${order} limit ${sql.lit(MOST_ITEMS + 1)}`.execute(db);
  const items = await withNames(db, by, rows.slice(0, MOST_ITEMS));
  return { from, to, items, ...(rows.length > MOST_ITEMS ? { truncated: true } : {}) };
}

/** PostgreSQL adds up whole numbers to a type that is read as text. */
function sum(column: string): ReturnType<typeof sql> {
  return sql`cast(sum(${sql.ref(column)}) as bigint) as ${sql.ref(column)}`;
}

interface SumRow {
  readonly agent_id?: string;
  readonly model?: string;
  readonly day?: string;
  readonly entity_id?: string;
  readonly kind?: UsageKind;
  readonly currency: string;
  readonly requests: number;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
  readonly cost: number;
  readonly unpriced: number;
  readonly estimated: number;
}

async function withNames(
  db: Kysely<Tables>,
  by: readonly UsageKey[],
  rows: readonly SumRow[],
): Promise<readonly UsageItem[]> {
  const agents = by.includes('agent')
    ? await namesOf(
        db,
        'agents',
        rows.map(({ agent_id }) => agent_id),
      )
    : NO_NAMES;
  const people = by.includes('entity')
    ? await namesOf(
        db,
        'entities',
        rows.map(({ entity_id }) => entity_id),
      )
    : NO_NAMES;
  return rows.map((row) => {
    const keys = Object.fromEntries(by.map((key) => [key, row[COLUMN[key] as keyof SumRow]]));
    const agentName = agents.get(row.agent_id ?? '');
    const entityName = people.get(row.entity_id ?? '');
    return {
      ...keys,
      ...(row.entity_id === '' ? { entity: null } : {}),
      ...(agentName === undefined ? {} : { agentName }),
      ...(entityName === undefined ? {} : { entityName }),
      requests: Number(row.requests),
      inputTokens: Number(row.input_tokens),
      cachedTokens: Number(row.cached_tokens),
      outputTokens: Number(row.output_tokens),
      cost: Number(row.unpriced) > 0 ? null : Math.round(Number(row.cost) * 1e9) / 1e9,
      currency: row.currency,
      estimated: Number(row.estimated) > 0,
    };
  });
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** Few parameters at once: a database takes a limited number. */
const NAMES_AT_ONCE = 1_000;

async function namesOf(
  db: Kysely<Tables>,
  table: 'agents' | 'entities',
  given: readonly (string | undefined)[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(given)].filter((id): id is string => id !== undefined && id !== '');
  const names = new Map<string, string>();
  for (let at = 0; at < ids.length; at += NAMES_AT_ONCE) {
    const some = ids.slice(at, at + NAMES_AT_ONCE);
    const rows =
      table === 'agents'
        ? await db.selectFrom('agents').select(['id', 'name']).where('id', 'in', some).execute()
        : await db.selectFrom('entities').select(['id', 'display_name as name']).where('id', 'in', some).execute();
    for (const { id, name } of rows) names.set(id, name);
  }
  return names;
}
