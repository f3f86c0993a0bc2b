import type { LanguageModelV4Message, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import type { Outcome } from '../results/outcome.ts';
import type { Entry, ReplyEntry, RequestedCall } from './entry.ts';
import { freezeMessages } from './freeze-messages.ts';
import { lateAnswerMessage } from './late-answer.ts';
import { userMessage } from './message.ts';
import { type IdUse, type MessageSource, ProviderView } from './provider-view.ts';

/** A reply and the results of its calls. */
interface Step {
  readonly reply: ReplyEntry;
  /** The index of the reply's own message; the results follow it. */
  readonly assistantAt: number;
  /** The index of its first call among all calls; -1 if it has none. */
  readonly firstCall: number;
  /** The calls that need a result message. A call that the provider ran itself has its result in the reply. */
  shown: readonly ShownCall[];
  /** Its results are shown otherwise than they are: they are written anew when somebody looks. */
  isStale: boolean;
}

interface ShownCall {
  readonly call: RequestedCall;
  readonly step: Step;
  /** Its position among the calls of the reply. */
  readonly place: number;
  /** Its position among all calls. */
  readonly index: number;
  outcome: Outcome | undefined;
  isToldByUs: boolean;
  theirs: IdUse | undefined;
  /** True once a newer result of its slot has replaced its own. */
  isCondensed: boolean;
}

/** The state that a rewind restores. */
interface Mark {
  readonly length: number;
  /** The newest result of each slot at the checkpoint. */
  readonly slots: ReadonlyMap<string, ShownCall>;
  /** What gave way since: the newer result goes with a rewind, and the older is the newest again. */
  gaveWay: ShownCall[];
}

const CONDENSED = '[An older result, left out: a newer one follows.]';
/** Holds the place of a step's results until they are written. */
const NO_RESULTS: LanguageModelV4Message = { role: 'tool', content: [] };
const UNSETTLED = 'This call has not been settled yet.';

/**
 * What a model is shown, derived from the transcript entry by entry, so that a step costs the same however many came
 * before. At every point each call is followed directly by its one result: a call that has none yet is shown a provisional
 * one.
 */
export class View {
  #messages: LanguageModelV4Message[] = [];
  /** The newest result of each slot. */
  #slots = new Map<string, ShownCall>();
  #calls: ShownCall[] = [];
  /** The calls by id; built when a result comes out of order. */
  #byId: Map<string, ShownCall> | undefined;
  /** The index of the call whose result comes next, if results come in order. */
  #next = 0;
  /** Those with calls that are shown. */
  #steps: Step[] = [];
  /** How long our ids are: what is of another length is none of them. */
  #idLengths: boolean[] = [];
  #last: Step | undefined;
  #stale: Step[] = [];
  #checkpoint: Mark | undefined;
  #forProvider: ProviderView | undefined;
  /** How many messages from the start are frozen, because forks share them. */
  #frozen = 0;

  /** Returns a copy, so that a request that was sent does not change afterwards. */
  messages(): LanguageModelV4Message[] {
    this.#showResults();
    return this.#messages.slice();
  }

  /** The messages for one provider: its own calls keep the ids it gave them, wherever these are unique. */
  messagesFor(provider: string): LanguageModelV4Message[] {
    if (this.#forProvider?.provider !== provider) this.#forProvider = new ProviderView(provider, this.#source());
    return this.#forProvider.update(this.#messages);
  }

  #source(): MessageSource {
    return {
      steps: this.#steps,
      callNamed: (callId) => this.#find(callId),
      resultOf: (call, toolCallId) => toResultPart(call as ShownCall, toolCallId),
      mayBeOurs: ({ length }) => this.#idLengths[length] === true,
    };
  }

  /**
   * A view that goes on from here by itself. The messages are shared and not derived again; they are frozen, so that neither can
   * change what the other shows. What may change of a call is copied.
   */
  fork(): View {
    this.#showResults();
    this.#frozen = freezeMessages(this.#messages, this.#frozen);
    const forked = new View();
    const copies = new ViewCopies(this.#calls);
    forked.#messages = this.#messages.slice();
    forked.#frozen = this.#frozen;
    forked.#calls = copies.calls;
    forked.#next = this.#next;
    forked.#steps = this.#steps.map((step) => copies.step(step));
    forked.#idLengths = this.#idLengths.slice();
    forked.#last = this.#last && copies.step(this.#last);
    forked.#slots = copies.slots(this.#slots);
    forked.#checkpoint = this.#checkpoint && {
      length: this.#checkpoint.length,
      slots: copies.slots(this.#checkpoint.slots),
      gaveWay: this.#checkpoint.gaveWay.map((call) => copies.call(call)),
    };
    forked.#forProvider = this.#forProvider?.fork(this.#messages, {
      source: forked.#source(),
      calls: forked.#calls,
      copyStep: (step) => copies.step(step as Step),
    });
    return forked;
  }

  /** What the model had been shown when it asked for the call. */
  before(callId: string, provider: string): LanguageModelV4Message[] {
    return this.messagesFor(provider).slice(0, this.#find(callId)?.step.assistantAt);
  }

  apply(entry: Entry): void {
    switch (entry.kind) {
      case 'message':
        this.#messages.push(entry.message);
        return;
      case 'nudge':
        this.#messages.push(
          entry.role === 'system' ? { role: 'system', content: entry.text } : userMessage(entry.text),
        );
        return;
      case 'reply':
        this.#addReply(entry);
        return;
      case 'pending':
        this.#addOutcome(entry.settlement.callId, entry.settlement.outcome, undefined);
        return;
      case 'settled':
        if (entry.late === true) this.#messages.push(lateAnswerMessage(entry.settlement));
        else this.#addOutcome(entry.settlement.callId, entry.settlement.outcome, entry.slot);
        return;
      case 'trimmed':
        this.#trim(entry.keep);
        return;
      case 'checkpoint':
        this.#checkpoint = { length: this.#messages.length, slots: new Map(this.#slots), gaveWay: [] };
        return;
      case 'rewind':
        this.#rewind(entry.text);
        return;
      case 'turn':
      case 'started':
      case 'compensating':
      case 'stop':
        return;
    }
  }

  #addReply(reply: ReplyEntry): void {
    const firstCall = reply.calls.length === 0 ? -1 : this.#calls.length;
    const step: Step = { reply, assistantAt: this.#messages.length, firstCall, shown: [], isStale: false };
    this.#next = this.#calls.length;
    const calls = reply.calls.map((call, place) => this.#addCall(call, step, place));
    step.shown = calls.filter(({ call }) => call.provided === undefined);
    this.#last = step;
    // Providers refuse a message without content.
    if (reply.content.length > 0) this.#messages.push({ role: 'assistant', content: reply.content });
    if (step.shown.length > 0) {
      this.#messages.push(NO_RESULTS);
      this.#steps.push(step);
    }
    this.#refresh(step);
  }

  #addCall(call: RequestedCall, step: Step, place: number): ShownCall {
    const shown: ShownCall = {
      call,
      step,
      place,
      index: this.#calls.length,
      outcome: undefined,
      isToldByUs: false,
      theirs: undefined,
      isCondensed: false,
    };
    this.#idLengths[call.callId.length] = true;
    this.#calls.push(shown);
    this.#byId?.set(call.callId, shown);
    return shown;
  }

  /** Most results come in the order of their calls, and need no lookup by id. */
  #take(callId: string): ShownCall | undefined {
    const next = this.#calls[this.#next];
    if (next?.call.callId !== callId) return this.#find(callId);
    this.#next++;
    return next;
  }

  #find(callId: string): ShownCall | undefined {
    this.#byId ??= new Map(this.#calls.map((shown) => [shown.call.callId, shown]));
    return this.#byId.get(callId);
  }

  #addOutcome(callId: string, outcome: Outcome, slot: string | undefined): void {
    const shown = this.#take(callId);
    if (shown === undefined) return;
    shown.outcome = outcome;
    // What waits is named by our id for good: its answer, its card and whoever answers name it so.
    shown.isToldByUs = outcome.status !== 'ok' && outcome.status !== 'pending';
    this.#refresh(shown.step);
    if (slot !== undefined && outcome.status === 'ok') this.#takeSlot(slot, shown);
  }

  /** Only the newest result of a slot stays whole: the last in the order of the calls, whichever ended first. */
  #takeSlot(slot: string, taker: ShownCall): void {
    const holder = this.#slots.get(slot);
    const gaveWay = holder !== undefined && isAfter(holder, taker) ? taker : holder;
    if (gaveWay !== taker) this.#slots.set(slot, taker);
    if (gaveWay !== undefined) this.#condense(gaveWay);
  }

  #condense(shown: ShownCall): void {
    shown.isCondensed = true;
    this.#checkpoint?.gaveWay.push(shown);
    this.#refresh(shown.step);
  }

  #trim(keep: readonly string[]): void {
    const step = this.#last;
    if (step === undefined) return;
    this.#forProvider = undefined;
    step.shown = step.shown.filter(({ call }) => keep.includes(call.callId));
    const content = step.reply.content.filter(
      (part) => part.type !== 'tool-call' || part.providerExecuted === true || keep.includes(part.toolCallId),
    );
    this.#set(step.assistantAt, { role: 'assistant', content });
    this.#refresh(step);
  }

  #rewind(text: string): void {
    if (this.#checkpoint !== undefined) this.#goBack(this.#checkpoint);
    this.#last = undefined;
    this.#messages.push(userMessage(text));
  }

  #goBack(mark: Mark): void {
    this.#forProvider = undefined;
    this.#messages.length = mark.length;
    this.#frozen = Math.min(this.#frozen, mark.length);
    this.#stale = this.#stale.filter(({ assistantAt }) => assistantAt < mark.length);
    this.#steps = this.#steps.filter(({ assistantAt }) => assistantAt < mark.length);
    this.#calls = this.#calls.filter(({ step }) => step.assistantAt < mark.length);
    this.#byId = undefined;
    this.#slots = new Map(mark.slots);
    for (const shown of mark.gaveWay) {
      shown.isCondensed = false;
      if (shown.step.assistantAt < mark.length) this.#refresh(shown.step);
    }
    mark.gaveWay = [];
  }

  #refresh(step: Step): void {
    if (step.shown.length === 0) return;
    this.#forProvider?.changed(step);
    if (step.isStale) return;
    step.isStale = true;
    this.#stale.push(step);
  }

  #showResults(): void {
    for (const step of this.#stale) {
      step.isStale = false;
      this.#set(step.assistantAt + 1, { role: 'tool', content: step.shown.map((shown) => toResultPart(shown)) });
    }
    this.#stale.length = 0;
  }

  #set(at: number, message: LanguageModelV4Message): void {
    this.#messages[at] = message;
    this.#frozen = Math.min(this.#frozen, at);
  }
}

/**
 * Copies of the calls of a view, and of their steps. Every cycle of an agent copies its whole history, so nothing is looked up: a call
 * knows its index, and a step its first call.
 */
class ViewCopies {
  readonly calls: ShownCall[] = [];

  constructor(calls: readonly ShownCall[]) {
    let step: Step | undefined;
    let copy: Step | undefined;
    for (const call of calls) {
      if (step !== call.step) {
        step = call.step;
        copy = { ...step };
      }
      this.calls.push({ ...call, step: copy as Step });
    }
    for (const { step: copied, index } of this.calls)
      if (copied.firstCall === index) copied.shown = copied.shown.map((call) => this.call(call));
  }

  call({ index }: ShownCall): ShownCall {
    return this.calls[index] as ShownCall;
  }

  step(step: Step): Step {
    return this.calls[step.firstCall]?.step ?? { ...step };
  }

  slots(slots: ReadonlyMap<string, ShownCall>): Map<string, ShownCall> {
    return new Map([...slots].map(([slot, call]) => [slot, this.call(call)]));
  }
}

function isAfter(one: ShownCall, other: ShownCall): boolean {
  if (one.step !== other.step) return one.step.assistantAt > other.step.assistantAt;
  return one.place > other.place;
}

function toResultPart(
  { call, outcome, isCondensed }: ShownCall,
  toolCallId: string = call.callId,
): LanguageModelV4ToolResultPart {
  const output = isCondensed ? { type: 'text' as const, value: CONDENSED } : toOutput(outcome);
  return { type: 'tool-result', toolCallId, toolName: call.toolName, output };
}

function toOutput(outcome: Outcome | undefined): LanguageModelV4ToolResultPart['output'] {
  if (outcome === undefined) return { type: 'text', value: UNSETTLED };
  switch (outcome.status) {
    case 'ok':
      return outcome.content === undefined
        ? { type: 'text', value: outcome.text }
        : {
            type: 'content',
            value: [
              ...(outcome.text === '' ? [] : [{ type: 'text' as const, text: outcome.text }]),
              ...outcome.content,
            ],
          };
    case 'pending':
      return { type: 'text', value: outcome.text };
    default:
      return { type: 'error-text', value: outcome.text };
  }
}
