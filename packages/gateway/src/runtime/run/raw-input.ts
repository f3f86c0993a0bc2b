import type { Transcript } from '@lastcall/core';

/** The input of a call as the model wrote it. Empty if the transcript no longer holds the reply. */
export function rawInput({ entries }: Transcript, callId: string): string {
  // Searched from the end, because it is nearly always the newest reply.
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at];
    const call = entry?.kind === 'reply' ? entry.calls.find((one) => one.callId === callId) : undefined;
    if (call !== undefined) return call.input;
  }
  return '';
}
