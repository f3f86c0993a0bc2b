import type { Tool } from '@lastcall/client';
import { Eye, EyeOff, Flag, type LucideIcon, ShieldCheck, Zap } from 'lucide-react';
import type { ReactElement } from 'react';

/** What to know about a tool before it is called: seen by people, acts outside, ends the run, asks first. */
export function ToolMarks({ tool }: { tool: Tool }): ReactElement {
  return (
    <span className="flex flex-wrap gap-x-3 gap-y-1 text-xs text-quiet">
      {tool.effects === 'external' && <Mark icon={Zap} word="acts outside" className="text-text" />}
      {tool.approval && <Mark icon={ShieldCheck} word="needs approval" className="text-text" />}
      {tool.terminal && <Mark icon={Flag} word="ends the run" />}
      {tool.visible ? <Mark icon={Eye} word="visible" /> : <Mark icon={EyeOff} word="hidden" />}
    </span>
  );
}

function Mark({
  icon: Icon,
  word,
  className = '',
}: {
  icon: LucideIcon;
  word: string;
  className?: string;
}): ReactElement {
  return (
    <span className={`inline-flex items-center gap-1 ${className}`}>
      <Icon size={14} aria-hidden className="shrink-0" />
      {word}
    </span>
  );
}

/** Where a tool comes from, in words. */
export const SOURCES: Readonly<Record<Tool['source'], string>> = {
  'built-in': 'built in',
  file: 'configuration file',
  definition: 'definition',
  mcp: 'MCP server',
  api: 'registry',
};
