import { formatPath } from './config-problem.ts';
import type { SubAgentConfig } from './sub-agent.ts';
import type { ToolConfig } from './tool-config.ts';

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

/** The same tools without these references, also in sub-agents. */
export function withoutReferences(
  tools: readonly (string | ToolConfig)[],
  gone: readonly string[],
): readonly (string | ToolConfig)[] {
  return tools
    .filter((one) => typeof one !== 'string' || !gone.includes(one))
    .map((one) => (typeof one === 'string' ? one : withoutNamed(one, gone)));
}

/** The same tool, which no longer names these tools if it is a sub-agent. */
export function withoutNamed(tool: ToolConfig, gone: readonly string[]): ToolConfig {
  const agentConfig = tool.execution?.agentConfig as SubAgentConfig | undefined;
  if (agentConfig?.tools === undefined) return tool;
  const tools = withoutReferences(agentConfig.tools, gone);
  return { ...tool, execution: { ...tool.execution, agentConfig: { ...agentConfig, tools } } };
}
