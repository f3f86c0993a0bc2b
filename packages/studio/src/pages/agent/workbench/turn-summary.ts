import type { Run, Usage } from '@lastcall/client';
import { type CallRow, toStory } from '@lastcall/client/timeline';
import type { DraftTurn } from '../../../data/drafts.ts';
import { readable } from '../../../parts/form/field.ts';
import { addUsage } from '../../../parts/run/usage-words.ts';

/** A turn of a conversation with a draft, in figures. */
export interface TurnSummary {
  readonly message: string;
  readonly answer: string | undefined;
  readonly calls: readonly CallRow[];
  readonly usage: Usage | undefined;
  /** How long its runs took, without the time in which it waited for people. */
  readonly ms: number | undefined;
  /** The run that began it. */
  readonly first: Run;
  readonly last: Run;
}

export function summaryOf({ story, parts }: DraftTurn): TurnSummary | undefined {
  const [first, last] = [story.runs[0], story.runs.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const calls = toStory(parts, story.waits).rows.filter((row) => row.kind === 'call');
  const used = story.runs.flatMap(({ usage }) => usage ?? []);
  return {
    message: messageIn(parts) ?? first.trigger[0]?.text ?? '',
    answer: story.runs.findLast(({ response = '' }) => response.trim() !== '')?.response ?? sentIn(calls),
    calls,
    usage: used.length === 0 ? undefined : used.reduce(addUsage),
    ms: story.endedAt === undefined ? undefined : story.runs.reduce((sum, run) => sum + durationOf(run), 0),
    first,
    last,
  };
}

/** What an agent says that speaks only with `send_message`: in a draft, that is only recorded. */
function sentIn(calls: readonly CallRow[]): string | undefined {
  const sent = calls.findLast(({ toolName, outcome }) => toolName === 'send_message' && outcome === 'ok')?.asked;
  const text = (sent as { text?: unknown } | undefined)?.text;
  return typeof text === 'string' ? text : undefined;
}

function durationOf({ createdAt, endedAt = createdAt }: Run): number {
  return endedAt - createdAt;
}

/** What the person said. */
function messageIn(parts: DraftTurn['parts']): string | undefined {
  for (const { entry } of parts[0]?.entries ?? []) {
    if (entry.kind !== 'message' || entry.message.role !== 'user') continue;
    const { content } = entry.message;
    if (typeof content === 'string') return content;
    return content
      .flatMap((part) => (part.type === 'text' && typeof part.text === 'string' ? [part.text] : []))
      .join('\n');
  }
  return undefined;
}

/** The configuration of a run of a draft: `v3`, or `v3 with other instructions, model`. */
export function configInWords({ configVersion, draft }: Run): string {
  const nodes = Object.keys(draft?.nodes ?? {});
  const fields = Object.keys(draft?.changes ?? {}).map((name) => readable(name).toLowerCase());
  const names = [
    ...fields,
    ...(nodes.length === 0 ? [] : [`${nodes.length === 1 ? 'node' : 'nodes'} ${nodes.join(', ')}`]),
  ];
  return names.length === 0 ? `v${configVersion}` : `v${configVersion} with other ${names.join(', ')}`;
}

export function callsInWords(calls: readonly CallRow[]): string {
  return calls.map(({ toolName }) => toolName).join(', ') || 'none';
}
