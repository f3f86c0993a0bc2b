import type { AnyTool } from '../contract/any-tool.ts';
import { TOOL } from '../contract/tool-mark.ts';
import { checkDefinition } from './check-definition.ts';
import type { ToolDefinition } from './tool-definition.ts';

/**
 * Makes a tool from a definition that was read from a file or a request: its description may be as long as those of
 * other external tools.
 */
export function dataTool<I, O, W>(definition: ToolDefinition<I, O, W>): AnyTool {
  const marked = { ...(definition as unknown as ToolDefinition), [TOOL]: 'data' as const };
  return Object.freeze(checkDefinition(marked, definition.name ?? '(unnamed)')) as unknown as AnyTool;
}
