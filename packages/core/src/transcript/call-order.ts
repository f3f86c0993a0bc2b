import type { Answer } from '../results/answer.ts';
import type { Settlement } from '../results/outcome.ts';
import type { Entry, ReplyEntry, RequestedCall } from './entry.ts';
import { fitsWait } from './fits-wait.ts';
import { callsOf, haveOneEach, resultsOf } from './message.ts';
import type { Flaw } from './shape.ts';

/**
 * Finds a problem between entries that are each valid by themselves: a call must be asked for once, and end once or
 * wait; an answer needs a call that waits for it; and a shown call must be followed by its result. One pass.
 */
export function flawOfCalls(entries: readonly Entry[]): Flaw | undefined {
  const reader = new CallReader();
  for (let index = 0; index < entries.length; index++) {
    const flaw = reader.read(entries[index] as Entry, entries[index + 1]);
    if (flaw !== undefined) return { at: `[${index}]${flaw.at}`, problem: flaw.problem };
  }
  return undefined;
}

interface KnownCall {
  readonly call: RequestedCall | undefined;
  state: 'asked' | 'waiting' | 'ended';
  /** How it waits, or waited last. */
  wait?: Settlement;
}

/** What is known of the calls, entry by entry. */
class CallReader {
  readonly #calls = new Map<string, KnownCall>();
  /** The newest reply of the turn. */
  #reply: ReplyEntry | undefined;
  #isCheckpointed = false;
  /** The results that the previous message asked for. */
  #expected: readonly string[] | undefined;

  read(entry: Entry, next: Entry | undefined): Flaw | undefined {
    const expected = this.#expected;
    this.#expected = undefined;
    switch (entry.kind) {
      case 'turn':
        return this.#unended() ?? this.#beginTurn();
      case 'message':
        return this.#message(entry.message, expected, next);
      case 'reply':
        return this.#unended() ?? this.#addReply(entry);
      case 'started':
        return this.#started(entry);
      case 'pending':
        return this.#pending(entry.settlement);
      case 'settled':
        return this.#settled(entry);
      case 'trimmed':
        return this.#trimmed(entry.keep);
      case 'nudge':
        return this.#unended();
      case 'checkpoint':
        this.#isCheckpointed = true;
        return this.#unended();
      case 'compensating':
        return this.#ended(entry.callId, '.callId');
      case 'rewind':
        return this.#isCheckpointed
          ? (this.#unended() ?? this.#ended(entry.callId, '.callId'))
          : flaw('', 'goes back, and this turn has no checkpoint.');
      case 'stop':
        return (
          this.#unended() ??
          (entry.stop.reason === 'transition' ? this.#ended(entry.stop.callId, '.stop.callId') : undefined)
        );
      // An entry of a later version is skipped.
      default:
        return undefined;
    }
  }

  #beginTurn(): undefined {
    this.#reply = undefined;
    this.#isCheckpointed = false;
  }

  #message(
    message: Extract<Entry, { kind: 'message' }>['message'],
    expected: readonly string[] | undefined,
    next: Entry | undefined,
  ): Flaw | undefined {
    if (message.role === 'tool') {
      const isRight = expected !== undefined && haveOneEach(expected, resultsOf(message));
      return isRight
        ? undefined
        : flaw('.message.content', 'must hold one result for each call of the message before.');
    }
    if (message.role !== 'assistant') return undefined;
    const calls = callsOf(message);
    this.#expected = calls;
    const isFollowed = next?.kind === 'message' && next.message.role === 'tool';
    return calls.length === 0 || isFollowed
      ? undefined
      : flaw('.message.content', 'has calls without a result in the next message.');
  }

  #addReply(reply: ReplyEntry): Flaw | undefined {
    for (const [index, call] of reply.calls.entries()) {
      if (this.#calls.has(call.callId))
        return flaw(`.calls[${index}].callId`, `${quote(call.callId)} is the id of another call too.`);
      this.#calls.set(call.callId, { call, state: 'asked' });
    }
    this.#reply = reply;
    const shown = reply.content.filter((part) => part.type === 'tool-call');
    const own = shown.filter((part) => part.providerExecuted !== true).map(({ toolCallId }) => toolCallId);
    const asked = reply.calls.filter(({ provided }) => provided === undefined).map(({ callId }) => callId);
    const isRight = shown.length === reply.calls.length && own.length === asked.length;
    return isRight && own.every((callId, index) => callId === asked[index])
      ? undefined
      : flaw('.content', 'must show the calls of the reply, in their order.');
  }

  #started({ callId, answer }: Extract<Entry, { kind: 'started' }>): Flaw | undefined {
    return this.#open(callId, '.callId') ?? this.#answered(callId, answer);
  }

  #pending(settlement: Settlement): Flaw | undefined {
    const found = this.#open(settlement.callId, '.settlement.callId') ?? this.#named(settlement);
    if (found !== undefined) return found;
    const known = this.#calls.get(settlement.callId) as KnownCall;
    known.state = 'waiting';
    known.wait = settlement;
    return undefined;
  }

  #settled({ settlement, answer, late }: Extract<Entry, { kind: 'settled' }>): Flaw | undefined {
    const { callId } = settlement;
    // A late answer describes its call by itself: a shortened history may have left the call out.
    if (late === true && !this.#calls.has(callId)) {
      this.#calls.set(callId, { call: undefined, state: 'ended' });
      return undefined;
    }
    const found = this.#open(callId, '.settlement.callId') ?? this.#named(settlement) ?? this.#answered(callId, answer);
    if (found !== undefined) return found;
    const known = this.#calls.get(callId) as KnownCall;
    if (late === true && known.state !== 'waiting') return flaw('.late', `call ${quote(callId)} did not wait.`);
    known.state = 'ended';
    return undefined;
  }

  #trimmed(keep: readonly string[]): Flaw | undefined {
    const calls = this.#reply?.calls ?? [];
    const kept = calls.filter(({ callId }) => keep.includes(callId));
    if (kept.length !== keep.length) return flaw('.keep', 'must be calls of the reply before.');
    const isShown = ({ provided }: RequestedCall): boolean => provided === undefined;
    return kept.some(isShown) || !calls.some(isShown) ? undefined : flaw('.keep', 'must keep a call.');
  }

  /** A call of the turn's newest reply that has neither ended nor waits: nothing may come before that. */
  #unended(): Flaw | undefined {
    const call = this.#reply?.calls.find(({ callId }) => this.#calls.get(callId)?.state === 'asked');
    return call === undefined ? undefined : flaw('', `comes before call ${quote(call.callId)} has ended.`);
  }

  #open(callId: string, at: string): Flaw | undefined {
    const state = this.#calls.get(callId)?.state;
    if (state === undefined) return flaw(at, `no reply asked for call ${quote(callId)}.`);
    return state === 'ended' ? flaw(at, `call ${quote(callId)} has ended already.`) : undefined;
  }

  #ended(callId: string, at: string): Flaw | undefined {
    return this.#calls.get(callId)?.state === 'ended' ? undefined : flaw(at, `call ${quote(callId)} has not ended.`);
  }

  #named({ callId, toolName }: Settlement): Flaw | undefined {
    const asked = this.#calls.get(callId)?.call?.toolName;
    return asked === toolName
      ? undefined
      : flaw('.settlement.toolName', `call ${quote(callId)} is of ${quote(asked)}.`);
  }

  #answered(callId: string, answer: Answer | undefined): Flaw | undefined {
    if (answer === undefined) return undefined;
    const { state, wait } = this.#calls.get(callId) as KnownCall;
    return state === 'waiting' && wait !== undefined && fitsWait(answer, wait)
      ? undefined
      : flaw('.answer', `call ${quote(callId)} did not wait for such an answer.`);
  }
}

function flaw(at: string, problem: string): Flaw {
  return { at, problem };
}

function quote(value: string | undefined): string {
  return JSON.stringify(value) ?? 'none';
}
