import type { Answer, Settlement } from '@lastcall/core';
import type { RecordedCall } from '../../domain/forks/recorded-calls.ts';
import { canonicalJson } from '../../ports/store/schema/json.ts';
import type { ActiveFork } from './active-fork.ts';

/**
 * Decides which calls of a fork get a recorded end. The first call of a tool with some input gets the end of the original's first call of
 * that tool with the same input, the second that of the second, and so on. Which it gets depends only on what is stored, so a worker that
 * takes the run over gives each call the same.
 */
export class ForkCalls {
  readonly #recorded = new Map<string, RecordedCall[]>();
  readonly #used = new Map<string, number>();
  readonly #given = new Map<string, RecordedCall | undefined>();
  readonly #approved: ReadonlySet<string>;
  /** The tools of approved calls: their calls may act outside. */
  readonly realTools: ReadonlySet<string>;

  constructor({ recorded, ends }: ActiveFork, answers: Readonly<Record<string, Answer>>) {
    for (const call of recorded) {
      const key = keyOf(call);
      this.#recorded.set(key, [...(this.#recorded.get(key) ?? []), call]);
    }
    for (const end of ends) this.endOf(end);
    this.#approved = new Set(Object.keys(answers).filter((callId) => 'approve' in (answers[callId] ?? {})));
    this.realTools = new Set(ends.flatMap(({ callId, toolName }) => (this.#approved.has(callId) ? [toolName] : [])));
  }

  /** The recorded end of a call of the fork. Undefined if the original made no such call. */
  endOf(call: Pick<Settlement, 'callId' | 'toolName' | 'input'>): RecordedCall | undefined {
    if (this.#given.has(call.callId)) return this.#given.get(call.callId);
    const key = keyOf(call);
    const used = this.#used.get(key) ?? 0;
    const found = this.#recorded.get(key)?.[used];
    this.#used.set(key, used + 1);
    this.#given.set(call.callId, found);
    return found;
  }

  /** True if a person named the tool and confirmed that this call runs for real. */
  isApproved(callId: string): boolean {
    return this.#approved.has(callId);
  }
}

function keyOf({ toolName, input }: Pick<Settlement, 'toolName' | 'input'>): string {
  return `${toolName} ${canonicalJson(input)}`;
}
