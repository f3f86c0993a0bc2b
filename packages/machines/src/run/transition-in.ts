import type { AnyTool, ToolSet } from '@lastcall/core';

export function isTransitionIn(tools: ToolSet, toolName: string): boolean {
  const called = Object.hasOwn(tools, toolName) ? (tools[toolName] as Partial<AnyTool>) : undefined;
  return called?.transition === true;
}
