import type { ToolContext } from '@lastcall/core';
import type { StagedWrite } from './cycle-context.ts';

/** Writes that wait for their call to be settled. */
export class Staging {
  readonly #byCall = new Map<string, { attempt: number; writes: StagedWrite[] }>();

  stage({ toolCallId, attempt }: ToolContext, write: StagedWrite): void {
    const known = this.#byCall.get(toolCallId);
    // A repetition starts from the state before the call: what an earlier try staged is gone.
    if (known?.attempt === attempt) known.writes.push(write);
    else this.#byCall.set(toolCallId, { attempt, writes: [write] });
  }

  /** What the call staged, to be applied with its end. */
  of(callId: string): readonly StagedWrite[] {
    return this.#byCall.get(callId)?.writes ?? [];
  }

  forget(callId: string): void {
    this.#byCall.delete(callId);
  }
}
