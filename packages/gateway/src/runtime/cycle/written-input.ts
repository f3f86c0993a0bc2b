import type { Transcript } from '@lastcall/core';

/** The input of a call as the model wrote it. Empty where the reply that asked for it is not in mind any more. */
export function writtenInput({ entries }: Transcript, callId: string): string {
  // From the end: it is nearly always the newest reply.
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at];
    const call = entry?.kind === 'reply' ? entry.calls.find((one) => one.callId === callId) : undefined;
    if (call !== undefined) return call.input;
  }
  return '';
}
