import type { JsonSchemaObject } from '@lastcall/core';
import type { ToolConfig } from '../../config/tool-config.ts';
import type { ExecutionType } from '../../config/visibility.ts';

/** Where a tool comes from. `api` is the registry; tools of other sources are changed elsewhere. */
export type ToolSourceName = 'built-in' | 'file' | 'definition' | 'mcp' | 'api';

/** A tool of any source, as the list shows it. */
export interface ListedTool {
  /** The id of a tool of the registry; `definition:name` for a tool of a definition; for all others, the name. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly source: ToolSourceName;
  /** The definition that has the tool. Only its agents can use it, and they do not name it. */
  readonly definition?: string | undefined;
  /** The project that it belongs to. Absent for tools that all projects share. */
  readonly project?: string | undefined;
  readonly executionType: ExecutionType;
  readonly visible: boolean;
  readonly effects: 'none' | 'session' | 'external';
  readonly terminal: boolean;
  readonly idempotent: boolean;
  readonly approval: boolean;
  readonly inputSchema: JsonSchemaObject;
  readonly outputSchema?: JsonSchemaObject | undefined;
  readonly resultSchema?: JsonSchemaObject | undefined;
  /** The configuration of a tool that is data. */
  readonly config?: ToolConfig | undefined;
  /** Incremented by every change. Only tools of the registry have a version. */
  readonly version?: number | undefined;
  readonly createdAt?: number | undefined;
  readonly updatedAt?: number | undefined;
}

/** Tools that are not in the store: built-in tools, those of the file, of definitions and of MCP servers. */
export interface ToolSource {
  /** Returns tools from memory, in any order, because it is called inside a transaction. */
  list(): Promise<readonly ListedTool[]>;
}
