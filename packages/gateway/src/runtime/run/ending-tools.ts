import type { AnyTool, ToolSet } from '@lastcall/core';
import type { AgentConfig } from '../../config/agent-config.ts';

/** The tools that end a run when they succeed. */
export interface EndingTools {
  /** The names of the tools of the terminating contract. Undefined if the run has no contract. */
  readonly listed: readonly string[] | undefined;
  /** True if a tool can end the run: one of the contract, or a terminal tool. */
  readonly isAny: boolean;
}

export function endingTools(config: Pick<AgentConfig, 'terminating' | 'mcp'>, tools: ToolSet): EndingTools {
  const listed = config.terminating?.toolIds.map((wanted) => nameOf(wanted, tools));
  if (listed !== undefined) return { listed: [...new Set(listed)], isAny: true };
  const isAny = Object.values(tools).some((one) => (one as Partial<AnyTool>).terminal === true) || hasTerminal(config);
  return { listed, isAny };
}

/** Core accepts names and ids. The model knows names alone. */
function nameOf(wanted: string, tools: ToolSet): string {
  if (Object.hasOwn(tools, wanted)) return wanted;
  return Object.entries(tools).find(([, one]) => one.id === wanted)?.[0] ?? wanted;
}

/** The tools of a server may not be known yet when the instructions are written. */
function hasTerminal({ mcp }: Pick<AgentConfig, 'mcp'>): boolean {
  return (mcp?.servers ?? []).some(({ tools = {} }) => Object.values(tools).some(({ terminal }) => terminal === true));
}
