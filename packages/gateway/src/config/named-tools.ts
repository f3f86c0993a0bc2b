import { formatPath } from './config-problem.ts';

/** A tool that a configuration names, and where. */
export interface NamedTool {
  readonly reference: string;
  readonly path: string;
}

/** The tools that a list of tools names, directly and in its sub-agents. The list may be unchecked. */
export function namedTools(tools: unknown, base: readonly PropertyKey[]): readonly NamedTool[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((one: unknown, index) => {
    const path = [...base, index];
    return typeof one === 'string' ? [{ reference: one, path: formatPath(path) }] : namedBySubAgent(one, path);
  });
}

/** The tools that a tool names, if it is a sub-agent. */
export function namedBySubAgent(tool: unknown, base: readonly PropertyKey[]): readonly NamedTool[] {
  const { execution } = (tool ?? {}) as {
    readonly execution?: { readonly agentConfig?: { readonly tools?: unknown } };
  };
  return namedTools(execution?.agentConfig?.tools, [...base, 'execution', 'agentConfig', 'tools']);
}
