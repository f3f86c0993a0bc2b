import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../../dialect.ts';
import { fromJson, toJson } from '../json.ts';
import type { Json } from '../tables.ts';

export const FRAMES_WITHOUT_TAGS = '0036-frames-without-tags';

/**
 * Earlier versions stored the secret tags of agents: in the frames of transcripts, and wherever a model or a tool repeated one. From now on
 * frames are stored with a mark, and `hidden` stands in place of the tag: see domain/frame.ts. Every row that may contain a tag is read
 * once. What a model is sent stays the same, because agents keep their tags.
 */
export function framesWithoutTags(dialect: Dialect): Migration {
  return {
    async up(db: Kysely<unknown>) {
      const { rows } = await sql<{ tag: string }>`select tag from agents`.execute(db);
      if (rows.length === 0) return;
      const hide = hiding(new Set(rows.map(({ tag }) => tag.toLowerCase())));
      const entries: TextTable = {
        ...TRANSCRIPTS,
        convert: (texts, tag) => texts.map((text) => convertEntry(text, tag, hide)),
      };
      for (const table of [entries, ...OTHERS]) await convertTable(db, { table, dialect, hide });
    },
  };
}

interface TextTable {
  readonly name: string;
  /** The columns of the primary key. */
  readonly key: readonly string[];
  readonly columns: readonly string[];
  /** How many rows are read at a time. Default 200. */
  readonly page?: number;
  /** True if the columns hold JSON. */
  readonly isJson?: boolean;
  /** Converts the columns of a row. Default: tags are hidden. */
  readonly convert?: (texts: readonly (string | null)[], tag: string | null) => readonly (string | null)[];
}

const TRANSCRIPTS: TextTable = { name: 'transcript_entries', key: ['thread_id', 'seq'], columns: ['payload'] };

const OTHERS: readonly TextTable[] = [
  { name: 'request_texts', key: ['hash'], columns: ['text'], isJson: true },
  { name: 'threads', key: ['id'], columns: ['state'], isJson: true },
  // Outputs have up to 16 MB.
  { name: 'calls', key: ['id'], columns: ['input', 'outcome', 'display', 'answer'], isJson: true, page: 5 },
  { name: 'calls', key: ['id'], columns: ['tool_name'] },
  { name: 'messages', key: ['id'], columns: ['metadata', 'call'], isJson: true },
  { name: 'messages', key: ['id'], columns: ['content'] },
  { name: 'inbox_events', key: ['id'], columns: ['payload'], isJson: true },
  { name: 'inbox_events', key: ['id'], columns: ['error'] },
  { name: 'runs', key: ['id'], columns: ['stop', 'answer'], isJson: true },
  { name: 'stream_events', key: ['channel', 'seq'], columns: ['payload'], isJson: true },
  { name: 'memories', key: ['agent_id', 'key'], columns: ['value'], isJson: true },
  { name: 'goals', key: ['agent_id', 'key'], columns: ['description'] },
  { name: 'plans', key: ['id'], columns: ['name', 'instruction'] },
  { name: 'agents', key: ['id'], columns: ['last_error'] },
  { name: 'agent_failures', key: ['space_id', 'entity_id'], columns: ['text'] },
];

interface Conversion {
  readonly table: TextTable;
  readonly dialect: Dialect;
  readonly hide: Hide;
}

type Row = Readonly<Record<string, string | number | null>>;

const PAGE = 200;

async function convertTable(db: Kysely<unknown>, { table, dialect, hide }: Conversion): Promise<void> {
  const convert =
    table.convert ?? ((texts) => texts.map((text) => text && (table.isJson ? hide.inJson : hide.inText)(text)));
  let after: Row | undefined;
  do {
    const rows: readonly Row[] = await readPage(db, { table, dialect, after });
    for (const row of rows) {
      const before = table.columns.map((column) => row[column] as string | null);
      const made = convert(before, row.own_tag as string | null);
      if (made.some((text, index) => text !== before[index])) await updateRow(db, { table, row, made });
    }
    after = rows.length < (table.page ?? PAGE) ? undefined : rows.at(-1);
  } while (after !== undefined);
}

async function readPage(
  db: Kysely<unknown>,
  {
    table: { name, key, columns, page = PAGE },
    dialect,
    after,
  }: Pick<Conversion, 'table' | 'dialect'> & { readonly after: Row | undefined },
): Promise<readonly Row[]> {
  const own = (column: string) => sql.ref(`${name}.${column}`);
  const wanted = sql.join([...key, ...columns].map(own));
  const from =
    name === TRANSCRIPTS.name
      ? sql`transcript_entries left join threads on threads.id = transcript_entries.thread_id left join agents on agents.id = threads.agent_id`
      : sql.table(name);
  const tag = name === TRANSCRIPTS.name ? sql`agents.tag` : sql`null`;
  // PostgreSQL sends only the rows that may have to change. In SQLite that would not be faster.
  const mayChange =
    dialect === 'sqlite'
      ? sql`1 = 1`
      : sql.join(
          columns.map((column) => sql`${own(column)} ~* ${MAY_CHANGE}`),
          sql` or `,
        );
  const isNext =
    after === undefined
      ? sql`1 = 1`
      : sql`(${sql.join(key.map(own))}) > (${sql.join(key.map((column) => sql`${after[column]}`))})`;
  const { rows } = await sql<Row>`
    select ${wanted}, ${tag} as own_tag from ${from} where (${mayChange}) and ${isNext}
    order by ${sql.join(key.map(own))} limit ${sql.lit(page)}`.execute(db);
  return rows;
}

async function updateRow(
  db: Kysely<unknown>,
  { table: { name, key, columns }, row, made }: { table: TextTable; row: Row; made: readonly (string | null)[] },
): Promise<void> {
  const values = columns.map((column, index) => sql`${sql.ref(column)} = ${made[index] ?? null}`);
  const isRow = key.map((column) => sql`${sql.ref(column)} = ${row[column]}`);
  await sql`update ${sql.table(name)} set ${sql.join(values)} where ${sql.join(isRow, sql` and `)}`.execute(db);
}

/** Tags are 24 hexadecimal digits, of which the last may be escaped. */
const MAY_CHANGE = '[0-9a-f]{23}|\u2063';

interface Hide {
  readonly inText: (text: string) => string;
  readonly inJson: (json: string) => string;
}

/**
 * Replaces the tags of all agents, in any spelling. In a line of a frame the last character of a tag was escaped. In JSON, other escapes
 * are skipped as wholes: "\\b" is not the beginning of a tag.
 */
function hiding(tags: ReadonlySet<string>): Hide {
  const beginnings = new Set([...tags].map((tag) => tag.slice(0, -1)));
  const inLines = (text: string): string =>
    text.replace(/(?<!\\)([0-9a-f]{23})\\{1,2}u00[0-9a-f]{2}/gi, (found, digits: string) =>
      beginnings.has(digits.toLowerCase()) ? 'hidden' : found,
    );
  const inDigits = (digits: string): string => {
    let hidden = '';
    for (let at = 0; at < digits.length; ) {
      const isTag = tags.has(digits.slice(at, at + 24).toLowerCase());
      hidden += isTag ? 'hidden' : digits.charAt(at);
      at += isTag ? 24 : 1;
    }
    return hidden;
  };
  return {
    inText: (text) => inLines(text).replace(/[0-9a-f]{24,}/gi, inDigits),
    inJson: (json) =>
      inLines(json).replace(/\\(?:u[0-9a-f]{4}|.)|[0-9a-f]{24,}/gi, (found) =>
        found.startsWith('\\') ? found : inDigits(found),
      ),
  };
}

interface StoredEntry {
  kind: string;
  message?: { role: string; content: { type: string; text?: string }[]; providerOptions?: object };
  content?: { type: string; text?: string; providerOptions?: unknown }[];
}

/** A row of a transcript: its frames get their mark, and its reasoning is kept so that it can be sent back exactly as it was. */
function convertEntry(payload: string | null, tag: string | null, { inJson }: Hide): string | null {
  if (payload === null || tag === null) return payload && inJson(payload);
  if (!payload.includes(ESCAPE) && !payload.toLowerCase().includes(tag.slice(0, -1))) return inJson(payload);
  const record = fromJson<{ entry?: StoredEntry; carried?: StoredEntry[] }>(payload as Json);
  for (const entry of [record.entry, ...(record.carried ?? [])]) {
    if (entry?.kind === 'message') markFrame(entry, tag);
    if (entry?.kind === 'reply')
      for (const part of entry.content ?? [])
        if (part.type === 'reasoning' || part.type === 'reasoning-file') hideInPart(part, tag);
  }
  return inJson(toJson(record));
}

/** In earlier versions a message with the tag was one of ours if the whole text was a frame: callers' texts had lost the tag. */
function markFrame({ message }: StoredEntry, tag: string): void {
  const [part, ...others] = message?.content ?? [];
  if (message?.role !== 'user' || others.length > 0 || part?.type !== 'text' || part.text === undefined) return;
  const [, name] = new RegExp(`^<([a-z]+)-${tag}[ >]`).exec(part.text) ?? [];
  if (name === undefined || !part.text.endsWith(`\n</${name}-${tag}>`)) return;
  message.providerOptions = { lastcall: { frame: true } };
}

const ESCAPE = '\u2063';

/** Its text, and what its metadata repeats of it. */
function hideInPart(part: { text?: string; providerOptions?: unknown }, tag: string): void {
  if (part.text !== undefined) part.text = hideInReasoning(part.text, tag);
  const { providerOptions } = part;
  if (providerOptions === undefined) return;
  part.providerOptions = JSON.parse(JSON.stringify(providerOptions), (_key, value: unknown) =>
    typeof value === 'string' ? hideInReasoning(value, tag) : value,
  );
}

/** As domain/frame-tag.ts hides it. */
function hideInReasoning(text: string, tag: string): string {
  return text.replace(new RegExp(`${ESCAPE}|${tag}`, 'gi'), (found) => {
    if (found === ESCAPE) return ESCAPE + ESCAPE;
    const upper = [...found].map((one) => (one === one.toLowerCase() ? '0' : '1')).join('');
    return `hidden${ESCAPE}${upper.includes('1') ? upper : ''}\u2064`;
  });
}
