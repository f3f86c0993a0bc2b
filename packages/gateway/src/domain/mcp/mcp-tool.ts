import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { McpToolRow, Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { ApiError, notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';
import { type Page, type PageOptions, pageLimit, textCursor, toPage } from '../entities/page.ts';
import { EVERYTHING, inView, type View } from '../projects/view.ts';

/** A tool of an MCP server, as operators see it. */
export interface McpTool {
  readonly id: string;
  /** The server's name in the configuration that it was first seen with. */
  readonly server: string;
  /** The server's own name for the tool. */
  readonly name: string;
  /** `held`: its definition changed after it was approved, and no agent has it. */
  readonly status: 'approved' | 'held';
  /** The approved definition. */
  readonly definition: unknown;
  readonly approvedAt: number;
  readonly approvedBy?: string;
  /** The definition that waits for approval. */
  readonly held?: { readonly fingerprint: string; readonly definition: unknown; readonly since: number };
}

interface McpToolFilter extends PageOptions {
  readonly status?: McpTool['status'] | undefined;
  /** Default: those of all projects. */
  readonly view?: View | undefined;
}

/** Lists the tools of MCP servers, in the order in which they were first seen. */
export async function listMcpTools(
  db: Kysely<Tables>,
  { status, view = EVERYTHING, ...page }: McpToolFilter = {},
): Promise<Page<McpTool>> {
  const limit = pageLimit(page.limit);
  const after = textCursor(page.cursor);
  let query = db.selectFrom('mcp_tools').selectAll().where(inView(view, 'mcp_tools'));
  if (status !== undefined) query = query.where('held_fingerprint', status === 'held' ? 'is not' : 'is', null);
  if (after !== undefined) query = query.where('id', '>', after);
  const rows = await query
    .orderBy('id')
    .limit(limit + 1)
    .execute();
  return toPage(rows, { limit, cursorOf: ({ id }) => id, toItem: toMcpTool });
}

/**
 * Approves the held definition. The fingerprint identifies the definition that the caller has read: if the server has changed it
 * since, nothing is approved.
 */
export async function approveMcpTool(
  tx: Tx,
  { id, fingerprint, by }: { readonly id: string; readonly fingerprint: string; readonly by: string },
): Promise<McpTool> {
  if (!isId(id)) throw notFound('MCP tool', id);
  const row = await tx.db.selectFrom('mcp_tools').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
  if (row === undefined) throw notFound('MCP tool', id);
  const isApproved = row.held_fingerprint === null && row.fingerprint === fingerprint;
  if (isApproved) return toMcpTool(row);
  if (row.held_fingerprint !== fingerprint || row.held_definition === null)
    throw new ApiError('definition_changed', CHANGED_AGAIN, {
      details: { heldFingerprint: row.held_fingerprint },
    });
  const approved: McpToolRow = {
    ...row,
    fingerprint,
    definition: row.held_definition,
    held_fingerprint: null,
    held_definition: null,
    held_at: null,
    approved_by: by,
    approved_at: tx.now(),
  };
  await tx.db.updateTable('mcp_tools').set(approved).where('id', '=', id).execute();
  return toMcpTool(approved);
}

const CHANGED_AGAIN = 'The definition that waits for approval has changed again. Read the new one, and approve that.';

function toMcpTool(row: McpToolRow): McpTool {
  return {
    id: row.id,
    server: row.server_name,
    name: row.tool_name,
    status: row.held_fingerprint === null ? 'approved' : 'held',
    definition: fromJson(row.definition),
    approvedAt: row.approved_at,
    ...(row.approved_by === null ? {} : { approvedBy: row.approved_by }),
    ...heldOf(row),
  };
}

function heldOf(row: McpToolRow): Pick<McpTool, 'held'> {
  const { held_fingerprint: fingerprint, held_definition: definition, held_at: since } = row;
  if (fingerprint === null || definition === null || since === null) return {};
  return { held: { fingerprint, definition: fromJson(definition), since } };
}
