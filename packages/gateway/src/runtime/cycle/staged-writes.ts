import type { ToolContext } from '@lastcall/core';
import type { StagedWrite } from '../tools/built-in-context.ts';

/** Writes that wait for their call to be settled. */
export class StagedWrites {
  readonly #byCallId = new Map<string, { attempt: number; writes: StagedWrite[] }>();

  stage({ toolCallId, attempt }: ToolContext, write: StagedWrite): void {
    const staged = this.#byCallId.get(toolCallId);
    // A retry starts from the state before the call, so what an earlier attempt staged is dropped.
    if (staged?.attempt === attempt) staged.writes.push(write);
    else this.#byCallId.set(toolCallId, { attempt, writes: [write] });
  }

  /** The writes to apply together with the end of the call. */
  get(callId: string): readonly StagedWrite[] {
    return this.#byCallId.get(callId)?.writes ?? [];
  }

  forget(callId: string): void {
    this.#byCallId.delete(callId);
  }
}
