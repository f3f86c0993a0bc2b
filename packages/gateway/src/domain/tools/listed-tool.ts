import type { JsonSchemaObject } from '@lastcall/core';
import type { ToolConfig } from '../../config/tool-config.ts';
import type { ExecutionType } from '../../config/visibility.ts';

/** Where a tool comes from. `api` is the registry; those of every other source are changed elsewhere. */
export type ToolSourceName = 'built-in' | 'file' | 'mcp' | 'api';

/** A tool as the list shows it, whatever its source. */
export interface ListedTool {
  /** Of a tool of the registry, its id; of all others, their name. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly source: ToolSourceName;
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
  /** Of a tool of the registry: raised by every change. */
  readonly version?: number | undefined;
  readonly createdAt?: number | undefined;
  readonly updatedAt?: number | undefined;
}

/** Tools that are not in the store: built-in ones, those of the file, those of MCP servers. */
export interface ToolSource {
  /** Answers from memory, in any order: it is asked inside a transaction. */
  list(): Promise<readonly ListedTool[]>;
}
