import type { Services } from '../../ports/services.ts';
import { toJson } from '../../ports/store/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { McpToolRow } from '../../ports/store/tables.ts';
import { newId } from '../new-id.ts';

/** A tool as its server defines it now. */
export interface SeenTool {
  readonly name: string;
  readonly fingerprint: string;
  readonly definition: object;
}

export interface SeenServer {
  /** The same for every gateway and agent that reaches the server in the same way. */
  readonly key: string;
  readonly name: string;
}

/**
 * Compares a server's tools with those that were approved. Configuring a server approves the definitions that it has
 * then; one that changed later is held. Returns the names of the tools that are held, and those that are held as of now.
 */
export async function holdChangedTools(
  { store }: Services,
  server: SeenServer,
  tools: readonly SeenTool[],
): Promise<{ readonly held: ReadonlySet<string>; readonly newlyHeld: readonly string[] }> {
  const known = await rowsOf(store.db, server.key);
  const isUnchanged = tools.every((one) => !needsWrite(known.get(one.name), one));
  if (isUnchanged) return { held: heldAmong(tools, known), newlyHeld: [] };
  return await store.transaction(async (tx) => {
    const before = await rowsOf(tx.db, server.key);
    const changed = tools.filter((one) => needsWrite(before.get(one.name), one));
    for (const one of changed) await write(tx, server, one, before.get(one.name));
    const newlyHeld = changed.filter((one) => isHeld(one, before.get(one.name))).map(({ name }) => name);
    return { held: heldAmong(tools, before), newlyHeld };
  });
}

type Rows = ReadonlyMap<string, McpToolRow>;

async function rowsOf(db: Tx['db'], serverKey: string): Promise<Rows> {
  const rows = await db.selectFrom('mcp_tools').selectAll().where('server_key', '=', serverKey).execute();
  return new Map(rows.map((row) => [row.tool_name, row]));
}

function needsWrite(row: McpToolRow | undefined, { fingerprint }: SeenTool): boolean {
  if (row === undefined) return true;
  // A server that went back to what was approved needs no approval.
  return row.held_fingerprint !== (row.fingerprint === fingerprint ? null : fingerprint);
}

function heldAmong(tools: readonly SeenTool[], rows: Rows): ReadonlySet<string> {
  return new Set(tools.filter((one) => isHeld(one, rows.get(one.name))).map(({ name }) => name));
}

function isHeld({ fingerprint }: SeenTool, row: McpToolRow | undefined): boolean {
  return row !== undefined && row.fingerprint !== fingerprint;
}

async function write(tx: Tx, server: SeenServer, tool: SeenTool, row: McpToolRow | undefined): Promise<void> {
  const definition = toJson(tool.definition);
  if (row === undefined) {
    await insert(tx, server, { ...tool, definition });
    return;
  }
  const held = isHeld(tool, row)
    ? { held_fingerprint: tool.fingerprint, held_definition: definition, held_at: tx.now() }
    : { held_fingerprint: null, held_definition: null, held_at: null };
  await tx.db
    .updateTable('mcp_tools')
    .set(held)
    .where('id', '=', row.id)
    // It may have been approved in between.
    .where('fingerprint', '=', row.fingerprint)
    .execute();
}

/** Another gateway may have seen the tool first: then its row stands, and the next look compares with it. */
async function insert(
  tx: Tx,
  server: SeenServer,
  { name, fingerprint, definition }: { name: string; fingerprint: string; definition: string },
): Promise<void> {
  await tx.db
    .insertInto('mcp_tools')
    .values({
      id: newId(),
      server_key: server.key,
      server_name: server.name,
      tool_name: name,
      fingerprint,
      definition,
      held_fingerprint: null,
      held_definition: null,
      approved_by: null,
      approved_at: tx.now(),
      held_at: null,
    })
    .onConflict((conflict) => conflict.columns(['server_key', 'tool_name']).doNothing())
    .execute();
}
