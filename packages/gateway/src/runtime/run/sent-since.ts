import type { Outcome, Settlement } from '@lastcall/core';
import { type TranscriptRow, toRecord } from '../../domain/transcript/load-transcript.ts';
import { INPUT } from '../../domain/transcript/machine-rows.ts';

/** The spaces in which the agent has sent a message since the last run began. In a machine, each instance begins turns. */
export function sentSince(rows: readonly TranscriptRow[], { isMachine }: { isMachine: boolean }): ReadonlySet<string> {
  const start = rows.findLastIndex(({ kind }) => kind === (isMachine ? INPUT : 'turn'));
  const sent = rows.slice(start + 1).flatMap((row) => {
    const entry = row.kind === 'settled' ? toRecord(row).entry : undefined;
    return entry?.kind === 'settled' ? sentIn(entry.settlement) : [];
  });
  return new Set(sent);
}

/** The space that a call has sent a message to: none or one. */
export function sentIn({ toolName, outcome }: Pick<Settlement, 'toolName' | 'outcome'>): readonly string[] {
  return toolName === 'send_message' && outcome.status === 'ok' ? [spaceOf(outcome)] : [];
}

function spaceOf({ value }: Extract<Outcome, { status: 'ok' }>): string {
  return String((value as { readonly spaceId?: unknown } | null)?.spaceId);
}
