import type { TurnSettings } from '../../domain/conversations/turn-settings.ts';
import type { RunTools } from '../run/run-tool.ts';

/**
 * The label under which metrics count a call: the tool's name, or a fixed word if a caller or a model chose the name.
 */
export type ToolLabel = (toolName: string) => string;

export function toolLabel(offered: Pick<RunTools, 'tools'>, settings: TurnSettings | undefined): ToolLabel {
  const ofCaller = new Set((settings?.clientTools ?? []).map(({ name }) => name));
  return (toolName) => {
    if (ofCaller.has(toolName)) return 'caller';
    return Object.hasOwn(offered.tools, toolName) ? toolName : 'unknown';
  };
}
