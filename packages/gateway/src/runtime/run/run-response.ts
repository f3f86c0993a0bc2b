import type { Entry, Stop } from '@lastcall/core';
import { endingCall, isTextReply } from '@lastcall/core/internal';
import { outputText } from '../../domain/runs/output-text.ts';
import { sentIn } from './sent-since.ts';

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
  const end = endingCall(entries, stop);
  if (end === undefined) return undefined;
  const turn = entries.slice(entries.findLastIndex(({ kind }) => kind === 'turn') + 1);
  const settled = turn.filter((entry) => entry.kind === 'settled');
  const { callId, toolName, outcome } = end.settlement;
  const text = end.endsTurn?.response ?? (outcome.status === 'ok' ? outputText(outcome) : '');
  return { callId, toolName, text, sentIn: settled.flatMap((one) => sameTextIn(one, text)) };
}

function sameTextIn({ settlement }: Settled, text: string): readonly string[] {
  const sent = (settlement.input as { readonly text?: unknown } | null)?.text;
  return typeof sent === 'string' && sent.trim() === text.trim() ? sentIn(settlement) : [];
}

/** The text with which the model ended the turn. Undefined if something else did. */
export function endingText(entries: readonly Entry[], stop: Stop): string | undefined {
  const isCut = stop.reason === 'length';
  if (!isCut && !(stop.reason === 'end_turn' && stop.by === 'text')) return undefined;
  const last = entries.findLast(({ kind }) => kind === 'reply' || kind === 'turn');
  if (last?.kind !== 'reply' || !isTextReply(last)) return undefined;
  return isCut && last.text.trim() !== '' ? `${last.text}${CUT}` : last.text;
}

const CUT = '\n[cut: the model reached its limit of output]';
