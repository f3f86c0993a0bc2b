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
