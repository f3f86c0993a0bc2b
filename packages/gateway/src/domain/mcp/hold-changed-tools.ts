import type { Services } from '../../ports/services.ts';
import { Slices } from '../../ports/slices.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import type { McpToolRow } from '../../ports/store/schema/tables.ts';
import type { Store, Tx } from '../../ports/store/store.ts';
import { chunks } from '../chunks.ts';
import { newId } from '../new-id.ts';

/** A tool as its server defines it now. */
interface SeenTool {
  readonly name: string;
  readonly fingerprint: string;
  /** The definition to approve. It is only called if it has to be written. */
  readonly definition: () => object;
}

export interface SeenServer {
  /** Equal for every gateway, and for every agent of the project that reaches the server in the same way. */
  readonly key: string;
  readonly name: string;
  readonly project: string;
}

export interface SeenList {
  readonly tools: readonly SeenTool[];
  /**
   * True if this list differs from the last one of the same connection. Only then are missing tools recorded: connections with
   * other credentials may have other lists, and would keep overwriting each other.
   */
  readonly isChanged: boolean;
}

/**
 * Compares a server's tools with those that were approved. Configuring a server approves the definitions that it has at that
 * time; a definition that changes later is held. Returns the names of the held tools, and of those that are newly held. Writes
 * only the differences, some tools at a time, because a list may have a thousand.
 */
export async function holdChangedTools(
  { store }: Pick<Services, 'store'>,
  server: SeenServer,
  { tools, isChanged }: SeenList,
): Promise<{ readonly held: ReadonlySet<string>; readonly newlyHeld: readonly string[] }> {
  const rows = new Map((await rowsOf(store.db, server.key)).map((row) => [row.tool_name, row]));
  const changed = tools.filter((one) => needsWrite(rows.get(one.name), one));
  const newlyHeld: string[] = [];
  const slices = new Slices();
  for (const some of chunks(changed, MOST_AT_ONCE)) {
    const before = await store.transaction((tx) => writeTools(tx, server, some));
    for (const row of before) rows.set(row.tool_name, row);
    const heldNow = new Map(before.map((row) => [row.tool_name, row]));
    newlyHeld.push(...some.filter((one) => isHeld(one, heldNow.get(one.name))).map(({ name }) => name));
    await slices.pause();
  }
  if (isChanged) await noteGone(store, tools, [...rows.values()]);
  return { held: new Set(tools.filter((one) => isHeld(one, rows.get(one.name))).map(({ name }) => name)), newlyHeld };
}

type SeenRow = Pick<McpToolRow, 'id' | 'tool_name' | 'fingerprint' | 'held_fingerprint' | 'gone_at'>;

/** Reads the rows without the definitions, which may be long. */
function rowsOf(db: Tx['db'], serverKey: string, names?: readonly string[]): Promise<SeenRow[]> {
  const rows = db
    .selectFrom('mcp_tools')
    .select(['id', 'tool_name', 'fingerprint', 'held_fingerprint', 'gone_at'])
    .where('server_key', '=', serverKey);
  return (names === undefined ? rows : rows.where('tool_name', 'in', names)).execute();
}

function needsWrite(row: SeenRow | undefined, { fingerprint }: SeenTool): boolean {
  if (row === undefined || row.gone_at !== null) return true;
  // A definition that changed back to the approved one needs no approval.
  return row.held_fingerprint !== (row.fingerprint === fingerprint ? null : fingerprint);
}

function isHeld({ fingerprint }: SeenTool, row: SeenRow | undefined): boolean {
  return row !== undefined && row.fingerprint !== fingerprint;
}

/** Writes the tools. Returns the rows as they were before. */
async function writeTools(tx: Tx, server: SeenServer, tools: readonly SeenTool[]): Promise<readonly SeenRow[]> {
  const names = tools.map(({ name }) => name);
  const before = await rowsOf(tx.db, server.key, names);
  const rows = new Map(before.map((row) => [row.tool_name, row]));
  const added = tools.filter(({ name }) => !rows.has(name));
  if (added.length > 0) await insert(tx, server, added);
  // Sent together, because none depends on another.
  await Promise.all(
    tools.map(async (one) => {
      const row = rows.get(one.name);
      if (row !== undefined && needsWrite(row, one)) await update(tx, one, row);
    }),
  );
  return before;
}

async function update(tx: Tx, tool: SeenTool, row: SeenRow): Promise<void> {
  const held = isHeld(tool, row)
    ? { held_fingerprint: tool.fingerprint, held_definition: toJson(tool.definition()), held_at: tx.now() }
    : { held_fingerprint: null, held_definition: null, held_at: null };
  await tx.db
    .updateTable('mcp_tools')
    .set({ ...held, gone_at: null })
    .where('id', '=', row.id)
    // The definition may have been approved in between.
    .where('fingerprint', '=', row.fingerprint)
    .execute();
}

/** Another gateway may have seen a tool first: then its row is kept, and the next list is compared with it. */
async function insert(tx: Tx, server: SeenServer, tools: readonly SeenTool[]): Promise<void> {
  const rows = tools.map(
    ({ name, fingerprint, definition }): McpToolRow => ({
      id: newId(),
      project_id: server.project,
      server_key: server.key,
      server_name: server.name,
      tool_name: name,
      fingerprint,
      definition: toJson(definition()),
      held_fingerprint: null,
      held_definition: null,
      approved_by: null,
      approved_at: tx.now(),
      held_at: null,
      gone_at: null,
    }),
  );
  await tx.db
    .insertInto('mcp_tools')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['server_key', 'tool_name']).doNothing())
    .execute();
}

async function noteGone(store: Store, tools: readonly SeenTool[], rows: readonly SeenRow[]): Promise<void> {
  const listed = new Set(tools.map(({ name }) => name));
  const gone = rows.filter((row) => row.gone_at === null && !listed.has(row.tool_name)).map(({ id }) => id);
  const slices = new Slices();
  for (const some of chunks(gone, MOST_AT_ONCE)) {
    await store.transaction((tx) =>
      tx.db
        .updateTable('mcp_tools')
        .set({ gone_at: tx.now() })
        .where('id', 'in', some)
        .where('gone_at', 'is', null)
        .execute(),
    );
    await slices.pause();
  }
}

/** SQLite runs synchronously: a larger transaction would block the process. */
const MOST_AT_ONCE = 50;
