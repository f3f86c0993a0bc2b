import type { JsonSchemaObject, ToolSet } from '@lastcall/core';
import type { MiddlewareConfig } from '../../config/middleware-config.ts';
import type { Answerers, ToolDisplay } from '../../config/tool-config.ts';
import type { ReadyOptions } from '../tools/mcp/mcp-connection.ts';

/** What the gateway knows about an agent's tool besides how to run it. */
export interface RunTool {
  readonly name: string;
  readonly isVisible: boolean;
  /** True if its output is never posted as the agent's message, although it ends the run. */
  readonly isSilent: boolean;
  readonly display?: ToolDisplay | undefined;
  readonly answerers?: Answerers | undefined;
  readonly resultSchema?: JsonSchemaObject | undefined;
  readonly expiresInMs?: number | undefined;
  /** True if workers claim and answer its calls. */
  readonly isJob: boolean;
  /** True if it runs a sub-agent that has tools of its own. */
  readonly hasNestedTools?: boolean;
  /** False if its calls cannot be granted in advance. */
  readonly grants?: false | undefined;
  /** The tool itself, if it is one in TypeScript. */
  readonly tool?: ToolSet[string] | undefined;
  /** The input schema as it is advertised to the model. */
  inputSchema(): Promise<JsonSchemaObject | undefined>;
}

export interface RunTools {
  /** The tools of MCP servers may change from step to step. */
  readonly tools: ToolSet;
  /** True if a space sees the calls of any of these tools as cards. */
  readonly isAnyVisible: boolean;
  /** Returns undefined for built-in tools, which are never visible, and for unknown names. */
  named(name: string): RunTool | undefined;
  /** False for built-in tools, because the data they read changes. */
  isWithoutEffects(name: string): boolean;
  /** True if the nodes of a machine have more tools. */
  readonly ofNodes?: boolean;
  /** The tools of that name that nodes have been offered in this run. */
  toolsOfNodes?(name: string): readonly ToolSet[string][];
  /** True for a tool of an MCP server. */
  isOfServer?(name: string): boolean;
  /** A text that changes with the tool's definition. Results of one version are not used for another. */
  versionOf(name: string): string;
  /** The middleware of single tools, by name. */
  readonly middleware: ReadonlyMap<string, readonly MiddlewareConfig[]>;
  /** In a fork: the tools as they are outside of it. */
  readonly outside?: RunTools;
  /** Waits for MCP servers, up to a time limit. */
  ready?(options: ReadyOptions): Promise<void>;
  /** Explains why there is no tool of that name, if it belongs to an MCP server that is not available. */
  whyMissing?(name: string): string | undefined;
}
