import type { Change, Changes, ToolContext } from '@lastcall/core';
import type { StagedWrite } from '../tools/built-in-context.ts';

interface StagedCall {
  readonly attempt: number;
  readonly writes: StagedWrite[];
  readonly changes: Change[];
  /** The writes that earlier attempts staged. */
  readonly dropped: readonly Change[];
}

/** Writes that wait for their call to be settled. */
export class StagedWrites {
  readonly #byCallId = new Map<string, StagedCall>();

  /** `changes` describes what the write changes, for people who read what the call did. */
  stage({ toolCallId, attempt }: ToolContext, write: StagedWrite, changes: readonly Change[]): void {
    const staged = this.#byCallId.get(toolCallId);
    if (staged?.attempt === attempt) {
      staged.writes.push(write);
      staged.changes.push(...changes);
      return;
    }
    // A retry starts from the state before the call, so the writes of an earlier attempt are dropped.
    const dropped = staged === undefined ? [] : [...staged.dropped, ...staged.changes];
    this.#byCallId.set(toolCallId, { attempt, writes: [write], changes: [...changes], dropped });
  }

  /** Adds a write when the call has ended. The call's changes already describe it. */
  add(callId: string, write: StagedWrite): void {
    const staged = this.#byCallId.get(callId) ?? { attempt: 0, writes: [], changes: [], dropped: [] };
    staged.writes.push(write);
    this.#byCallId.set(callId, staged);
  }

  /** The writes to apply together with the end of the call. */
  get(callId: string): readonly StagedWrite[] {
    return this.#byCallId.get(callId)?.writes ?? [];
  }

  /** The changes that are made if the call's writes are applied, or dropped if they are not. */
  changes(callId: string, { isApplied }: { isApplied: boolean }): Changes | undefined {
    const staged = this.#byCallId.get(callId);
    if (staged === undefined) return undefined;
    const { changes, dropped } = staged;
    return isApplied
      ? { committed: changes, discarded: dropped }
      : { committed: [], discarded: [...dropped, ...changes] };
  }

  forget(callId: string): void {
    this.#byCallId.delete(callId);
  }
}
