import type { Entry, Outcome, Stop } from '@lastcall/core';
import { outputText } from '../../domain/runs/output-text.ts';

/** The output of the tool that ended a run. */
export interface RunResponse {
  readonly callId: string;
  readonly toolName: string;
  readonly text: string;
  /** The spaces in which the agent already sent this text in the same run. */
  readonly sentIn: readonly string[];
}

type Settled = Extract<Entry, { kind: 'settled' }>;

/** Finds the response of a turn that a tool ended. It reads only the transcript, so every worker finds the same. */
export function responseOf(entries: readonly Entry[], stop: Stop): RunResponse | undefined {
  if (stop.reason !== 'end_turn' || stop.by === 'text') return undefined;
  const turn = entries.slice(entries.findLastIndex(({ kind }) => kind === 'turn') + 1);
  const settled = turn.filter((entry) => entry.kind === 'settled');
  const end =
    settled.find(({ endsTurn }) => endsTurn !== undefined) ?? settled.findLast((one) => isEnd(one, stop.tool));
  if (end === undefined) return undefined;
  const { callId, toolName, outcome } = end.settlement;
  const text = end.endsTurn?.response ?? (outcome.status === 'ok' ? outputText(outcome) : '');
  return { callId, toolName, text, sentIn: settled.flatMap((one) => sentIn(one, text)) };
}

/** A call of an earlier run that was approved in this one does not end it. */
function isEnd({ settlement, late }: Settled, toolName: string): boolean {
  return late !== true && settlement.toolName === toolName && settlement.outcome.status === 'ok';
}

function sentIn({ settlement: { toolName, input, outcome } }: Settled, text: string): readonly string[] {
  if (toolName !== 'send_message' || outcome.status !== 'ok') return [];
  const sent = (input as { readonly text?: unknown }).text;
  const isSame = typeof sent === 'string' && sent.trim() === text.trim();
  return isSame ? [spaceOf(outcome)] : [];
}

function spaceOf({ value }: Extract<Outcome, { status: 'ok' }>): string {
  return String((value as { readonly spaceId?: unknown } | null)?.spaceId);
}
