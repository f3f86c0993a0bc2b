import type { Definitions } from './definitions.ts';
import { findTool, type RegisteredTools } from './registered-tool.ts';

/** Tools of the gateway that an agent has only if its configuration or a request names them. */
const TASK_TOOL_NAMES = ['complete_task', 'report_error', 'pass_event'] as const;

export type TaskToolName = (typeof TASK_TOOL_NAMES)[number];

export function isTaskTool(name: string): name is TaskToolName {
  return (TASK_TOOL_NAMES as readonly string[]).includes(name);
}

/** True if a configuration may name this tool although it is not in the registry. */
export function isKnownTool(ofFile: RegisteredTools, nameOrId: string): boolean {
  return findTool(ofFile, nameOrId) !== undefined || isTaskTool(nameOrId);
}

/** What the configuration file offers to the agents that are created over HTTP too. */
export interface Offered {
  /** True if a tool of that name or id is in the file, or comes with the gateway. */
  isKnownTool(nameOrId: string): boolean;
  readonly definitions: Definitions;
  /** The currency of prices and spend limits. */
  readonly currency: string;
}

export function offeredBy({ tools, definitions, currency }: OfferingConfig): Offered {
  return { isKnownTool: (nameOrId) => isKnownTool(tools, nameOrId), definitions, currency };
}

interface OfferingConfig {
  readonly tools: RegisteredTools;
  readonly definitions: Definitions;
  readonly currency: string;
}
