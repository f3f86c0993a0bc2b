import type { Answer, Outcome, Settlement } from '@lastcall/core';
import { changesOfCall } from '@lastcall/machines/internal';
import { type ChangedOutcome, toOutcome } from '../../domain/forks/changed-outcome.ts';
import type { RecordedCall } from '../../domain/forks/recorded-calls.ts';
import { canonicalJson } from '../../ports/store/schema/json.ts';
import type { ActiveFork } from './active-fork.ts';

/** A call of a fork. */
export interface ForkCall extends Pick<Settlement, 'callId' | 'toolName' | 'input'> {
  /** Of a machine: the instance that makes it. */
  readonly instanceId: string | undefined;
}

/**
 * Decides which calls of a fork get a recorded end. The first call of a tool with some input gets the end of the original's first call of
 * that tool with the same input, the second that of the second, and so on. An instance of a machine first gets the ends that it got in the
 * original, because instances work in parallel, and then those of others. Which end a call gets depends only on what is stored, so a worker that takes
 * the run over gives each call the same.
 */
export class ForkCalls {
  readonly #recorded = new Map<string, RecordedCall[]>();
  readonly #made = new Map<string, number>();
  readonly #ends = new Map<string, RecordedCall | undefined>();
  readonly #approved: ReadonlySet<string>;
  readonly #given: ReadonlyMap<string, ChangedOutcome>;
  /** The tools of approved calls: their calls may act outside. */
  readonly realTools: ReadonlySet<string>;

  constructor(
    { recorded, ends, waits }: Pick<ActiveFork, 'recorded' | 'ends' | 'waits'>,
    answers: Readonly<Record<string, Answer>>,
    /** Outcomes that people gave to calls of a machine that waited for approval. */
    given: ReadonlyMap<string, ChangedOutcome> = new Map(),
  ) {
    for (const call of recorded) {
      const key = keyOf(call);
      this.#recorded.set(key, [...(this.#recorded.get(key) ?? []), call]);
    }
    for (const { settlement, instanceId } of ends) this.endOf({ ...settlement, instanceId });
    this.#given = given;
    this.#approved = new Set(Object.keys(answers).filter((callId) => 'approve' in (answers[callId] ?? {})));
    const asked = [...waits, ...ends].map(({ settlement }) => settlement);
    this.realTools = new Set(asked.flatMap(({ callId, toolName }) => (this.isApproved(callId) ? [toolName] : [])));
  }

  /** The recorded end of a call of the fork. Undefined if the original made no such call. */
  endOf(call: ForkCall): RecordedCall | undefined {
    if (this.#ends.has(call.callId)) return this.#ends.get(call.callId);
    const key = keyOf(call);
    const ofInstance = `${call.instanceId} ${key}`;
    const made = this.#made.get(ofInstance) ?? 0;
    this.#made.set(ofInstance, made + 1);
    const found = this.#endsFor(call.instanceId, key)[made];
    this.#ends.set(call.callId, found);
    return found;
  }

  /** The outcome that a person gave to the call in place of running it. */
  givenTo({ callId, toolName }: ForkCall): Outcome | undefined {
    const given = this.#given.get(callId);
    return given && toOutcome(given, toolName);
  }

  /** True if a person named the tool and confirmed that this call runs for real. */
  isApproved(callId: string): boolean {
    return this.#approved.has(callId);
  }

  /** What another instance did to the machine is no part of the outcome of this one's call. */
  #endsFor(instanceId: string | undefined, key: string): readonly RecordedCall[] {
    const all = this.#recorded.get(key) ?? [];
    const own = all.filter((call) => call.instanceId === instanceId);
    const others = all.filter((call) => call.instanceId !== instanceId && changesOfCall(call.staged).length === 0);
    return [...own, ...others];
  }
}

function keyOf({ toolName, input }: Pick<Settlement, 'toolName' | 'input'>): string {
  return `${toolName} ${canonicalJson(input)}`;
}
