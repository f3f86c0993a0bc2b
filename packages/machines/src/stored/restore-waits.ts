import type { Answer, Settlement } from '@lastcall/core';
import { StoredMachineError } from '../errors.ts';
import { waitOf } from '../run/wait.ts';
import { MAIN } from '../tree/thread.ts';
import type { Instance, Wait } from '../tree/tree.ts';
import type { RestoredThread } from './restore-threads.ts';
import { list, plain, record, text } from './stored-fields.ts';

/**
 * Matches waits with calls. The thread says what a call waits for, so that the two cannot differ: only the call and the
 * answer are read from a stored wait. Each call that waits belongs to one instance, which can be resumed.
 */
export class StoredWaits {
  readonly #threads: ReadonlyMap<string, RestoredThread>;
  readonly #claimed = new Set<Settlement>();

  constructor(threads: ReadonlyMap<string, RestoredThread>) {
    this.#threads = threads;
  }

  restore(given: unknown, { id, worker }: Pick<Instance, 'id' | 'worker'>, path: string): readonly Wait[] {
    const open = this.#threads.get(worker ? id : MAIN)?.open;
    return list(given, path).map((one, index) => {
      const at = `${path}[${index}]`;
      const stored = record(one, at);
      const { callId, answer } = stored;
      const call = open?.get(text(callId, `${at}.callId`));
      if (call?.outcome.status !== 'pending')
        throw new StoredMachineError(`${at}.callId`, `no call ${JSON.stringify(callId)} waits for an answer.`);
      if (this.#claimed.has(call))
        throw new StoredMachineError(`${at}.callId`, `call "${call.callId}" is waited for twice.`);
      this.#claimed.add(call);
      const wait = waitOf(call);
      for (const field of ['toolName', 'kind'] as const)
        if (stored[field] !== wait[field])
          throw new StoredMachineError(`${at}.${field}`, `must be "${wait[field]}", as the call has it.`);
      return Object.freeze(
        answer === undefined ? wait : { ...wait, answer: restoreAnswer(answer, wait, `${at}.answer`) },
      );
    });
  }

  /** A call that no instance waits for could never be answered. */
  assertAllClaimed(): void {
    for (const { open, path } of this.#threads.values()) {
      for (const call of open.values()) {
        if (call.outcome.status !== 'pending' || this.#claimed.has(call)) continue;
        throw new StoredMachineError(
          `${path}.transcript`,
          `call "${call.callId}" waits, and no instance waits for it.`,
        );
      }
    }
  }
}

/** Restores the answer in the form in which `machine.resume` and `machine.answer` keep it. */
function restoreAnswer(given: unknown, { kind }: Wait, path: string): Answer {
  const answer = record(plain(given, path), path);
  const keys = Object.keys(answer).join();
  if (kind !== 'approval' && keys === 'result') return answer as Answer;
  if (kind !== 'approval' && keys === 'error' && typeof answer.error === 'string') return answer as Answer;
  if (kind === 'approval' && answer.approve === true && (keys === 'approve' || keys === 'approve,input'))
    return answer as Answer;
  if (kind === 'approval' && typeof answer.deny === 'string' && keys === 'deny') return answer as Answer;
  const expected =
    kind !== 'approval' ? '{ result } or { error: text }' : '{ approve: true, input? } or { deny: reason }';
  throw new StoredMachineError(path, `must be ${expected}.`);
}
