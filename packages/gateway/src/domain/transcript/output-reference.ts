import type { Entry, Outcome } from '@lastcall/core';
import type { CutOutcome } from './cut-output.ts';

type SettledEntry = Extract<Entry, { kind: 'settled' }>;

/** Replaces the output of a settled call by a reference. The output itself stays in the store, under the call's id. */
export function toReference(entry: SettledEntry): SettledEntry {
  const { settlement } = entry;
  const { cut, text: shown } = settlement.outcome as CutOutcome;
  const text = referenceText(settlement.callId, cut?.kept === true ? cut.characters : shown.length);
  return { ...entry, settlement: { ...settlement, outcome: withText(settlement.outcome, text, settlement.terminal) } };
}

/** A longer text only starts like a reference. */
const MAX_REFERENCE = 400;

export function isReference({ settlement: { callId, outcome } }: SettledEntry): boolean {
  return outcome.text.startsWith(`[output kept as ${callId} (`) && outcome.text.length < MAX_REFERENCE;
}

function referenceText(callId: string, characters: number): string {
  return `[output kept as ${callId} (${characters} characters): use read_output to read it]`;
}

/** The value of a terminal tool is the turn's result, so it stays. */
function withText(outcome: Outcome, text: string, terminal: true | undefined): Outcome {
  switch (outcome.status) {
    case 'ok':
      return { status: 'ok', value: terminal === true ? outcome.value : text, text };
    case 'error':
      return { ...outcome, message: text, text };
    default:
      return { ...outcome, text };
  }
}
