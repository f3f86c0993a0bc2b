import type { ToolSet } from '../contract/tool-set.ts';
import type { Session } from '../session/session.ts';
import { describeTool } from '../tools/advertise.ts';
import { resolveTool } from '../tools/resolved-tool.ts';

/**
 * The instructions with the list of the terminal tools at their end, or unchanged if there are none. Pass the exact
 * tools of the request, once, when they are all known.
 */
export function withTerminalTools(instructions: string, tools: ToolSet, session: Session): string {
  const lines = terminalLines(tools, session);
  if (lines.length === 0) return instructions;
  const list = [
    '## Terminal Tools',
    'These tools generate your final response:',
    ...lines,
    '',
    'When you call a terminal tool, its output IS your response. Do not add text after calling one.',
  ].join('\n');
  return instructions.trim() === '' ? list : `${instructions}\n\n${list}`;
}

function terminalLines(tools: ToolSet, session: Session): readonly string[] {
  return Object.entries(tools).flatMap(([name, definition]) => {
    const tool = resolveTool(name, definition);
    return tool.terminal ? [`- ${name}: ${oneLine(describeTool(name, tool, session))}`.trimEnd()] : [];
  });
}

/** A line break in a description would end its list item, and the following text could be mistaken for instructions. */
function oneLine(text: string): string {
  return text.trim().replace(/\s*[\n\r\u2028\u2029]\s*/g, ' ');
}
