import type { LanguageModelV4Message, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import type { Outcome } from '../results/outcome.ts';
import type { Entry, ReplyEntry, RequestedCall, SettledEntry } from './entry.ts';
import { toReplyMessage } from './foreign-calls.ts';
import { freezeMessages } from './freeze-messages.ts';
import { lateAnswerMessage } from './late-answer.ts';
import { userMessage, withoutBlankTexts } from './message.ts';
import { type MessageSource, ProviderView } from './provider-view.ts';
import { toProviderPart } from './result-file.ts';
import { wellFormed } from './well-formed.ts';

/*
 * Forks share steps and calls, so neither is ever changed: a change puts another object into the same place of the list.
 * They refer to each other by their positions, which stay the same.
 */

/** A reply and the results of its calls. */
interface Step {
  readonly reply: ReplyEntry;
  /** The index of the reply's own message; the results follow it. */
  readonly assistantAt: number;
  /** Its position among the steps that show results; -1 if it shows none. */
  readonly index: number;
  /**
   * The positions of the calls that need a result message. A call that the provider ran itself has its result in the
   * reply.
   */
  readonly shown: readonly number[];
}

interface ShownCall {
  readonly call: RequestedCall;
  /** The position of its step, and the index of the step's message. */
  readonly step: number;
  readonly assistantAt: number;
  /** Its position among all calls. */
  readonly index: number;
  readonly outcome: Outcome | undefined;
  readonly isToldByUs: boolean;
  /** True once a newer result of its slot has replaced its own. */
  readonly isCondensed: boolean;
}

/** The state that a rewind restores, with calls by their positions. */
interface Mark {
  readonly length: number;
  /** The newest result of each slot at the checkpoint. */
  readonly slots: ReadonlyMap<string, number>;
  /** Results that were replaced since: a rewind removes the newer result, and the older is the newest again. */
  gaveWay: number[];
  /** Answers that have come since to calls from before: a rewind does not undo the answers of other people. */
  readonly answers: LanguageModelV4Message[];
}

const CONDENSED = '[An older result, left out: a newer one follows.]';
/** A placeholder for a step's results until they are written. */
const NO_RESULTS: LanguageModelV4Message = { role: 'tool', content: [] };
const UNSETTLED = 'This call has not been settled yet.';

/**
 * The messages for a model, derived from the transcript entry by entry, so that a step costs the same however many came
 * before. At every point each call is followed directly by its one result: a call without a result gets a provisional
 * one.
 */
export class View {
  #messages: LanguageModelV4Message[] = [];
  /** The call with the newest result of each slot. */
  #slots = new Map<string, number>();
  #calls: ShownCall[] = [];
  /** The calls by id; built when a result comes out of order. */
  #byId: Map<string, number> | undefined;
  /** The index of the call whose result comes next, if results come in order. */
  #next = 0;
  /** The steps with calls that are shown. */
  #steps: Step[] = [];
  /** The lengths of our ids. Entries with another length never match. */
  #idLengths: boolean[] = [];
  #last: Step | undefined;
  /** Steps whose shown results are out of date: they are written again on the next read. */
  #stale = new Set<number>();
  #checkpoint: Mark | undefined;
  #forProvider: ProviderView | undefined;
  /** How many messages from the start are frozen, because forks share them. */
  #frozen = 0;

  /** Returns a copy, so that a request that was sent does not change afterwards. */
  messages(): LanguageModelV4Message[] {
    this.#showResults();
    return this.#messages.slice();
  }

  /** The messages for one provider, until the next change: its own calls keep the ids it gave them, wherever these are unique. */
  messagesFor(provider: string): readonly LanguageModelV4Message[] {
    if (this.#forProvider?.provider !== provider) this.#forProvider = new ProviderView(provider, this.#source());
    return this.#forProvider.update(this.#messages);
  }

  #source(): MessageSource {
    return {
      steps: this.#steps,
      callAt: (index) => this.#callAt(index),
      callNamed: (callId) => this.#find(callId),
      resultOf: (index, toolCallId) => toResultPart(this.#callAt(index), toolCallId),
      mayBeOurs: ({ length }) => this.#idLengths[length] === true,
    };
  }

  /**
   * An independent view that continues from here. The lists are copied, and their contents are shared: calls and steps
   * are never changed, and messages are frozen, so that neither view can change what the other shows.
   */
  fork(): View {
    this.#showResults();
    this.#frozen = freezeMessages(this.#messages, this.#frozen);
    const forked = new View();
    forked.#messages = this.#messages.slice();
    forked.#frozen = this.#frozen;
    forked.#calls = this.#calls.slice();
    forked.#next = this.#next;
    forked.#steps = this.#steps.slice();
    forked.#idLengths = this.#idLengths.slice();
    forked.#last = this.#last;
    forked.#slots = new Map(this.#slots);
    const mark = this.#checkpoint;
    forked.#checkpoint = mark && { ...mark, gaveWay: mark.gaveWay.slice(), answers: mark.answers.slice() };
    forked.#forProvider = this.#forProvider?.fork(this.#messages, forked.#source());
    return forked;
  }

  /** What the model had been shown when it asked for the call. */
  before(callId: string, provider: string): LanguageModelV4Message[] {
    return this.messagesFor(provider).slice(0, this.#find(callId)?.assistantAt);
  }

  apply(entry: Entry): void {
    switch (entry.kind) {
      case 'message':
        this.#messages.push(wellFormed(withoutBlankTexts(entry.message)));
        return;
      case 'nudge':
        this.#messages.push(
          wellFormed(entry.role === 'system' ? { role: 'system', content: entry.text } : userMessage(entry.text)),
        );
        return;
      case 'reply':
        this.#addReply(entry);
        return;
      case 'pending':
        this.#addOutcome(entry.settlement.callId, entry.settlement.outcome, undefined);
        return;
      case 'settled':
        if (entry.late === true && entry.told === true) return;
        if (entry.late === true) this.#addLateEnd(entry);
        else this.#addOutcome(entry.settlement.callId, entry.settlement.outcome, entry.slot);
        return;
      case 'trimmed':
        this.#trim(entry.keep);
        return;
      case 'checkpoint':
        this.#checkpoint = { length: this.#messages.length, slots: new Map(this.#slots), gaveWay: [], answers: [] };
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
    const assistantAt = this.#messages.length;
    const firstCall = this.#calls.length;
    const shown: number[] = [];
    for (const [place, { provided }] of reply.calls.entries())
      if (provided === undefined) shown.push(firstCall + place);
    const step: Step = { reply, assistantAt, index: shown.length === 0 ? -1 : this.#steps.length, shown };
    this.#next = firstCall;
    for (const call of reply.calls) this.#addCall(call, step);
    this.#last = step;
    // Providers refuse a message without content.
    if (reply.content.length > 0) this.#messages.push(toReplyMessage(reply, reply.content));
    if (shown.length > 0) {
      this.#messages.push(NO_RESULTS);
      this.#steps.push(step);
    }
    this.#refresh(step.index);
  }

  #addCall(call: RequestedCall, { index: step, assistantAt }: Step): void {
    const index = this.#calls.length;
    this.#idLengths[call.callId.length] = true;
    this.#calls.push({
      call,
      step,
      assistantAt,
      index,
      outcome: undefined,
      isToldByUs: false,
      isCondensed: false,
    });
    this.#byId?.set(call.callId, index);
  }

  /** Most results come in the order of their calls, and need no lookup by id. */
  #take(callId: string): ShownCall | undefined {
    const next = this.#calls[this.#next];
    if (next?.call.callId !== callId) return this.#find(callId);
    this.#next++;
    return next;
  }

  #find(callId: string): ShownCall | undefined {
    this.#byId ??= new Map(this.#calls.map(({ call, index }) => [call.callId, index]));
    const index = this.#byId.get(callId);
    return index === undefined ? undefined : this.#callAt(index);
  }

  #callAt(index: number): ShownCall {
    return this.#calls[index] as ShownCall;
  }

  #addOutcome(callId: string, outcome: Outcome, slot: string | undefined): void {
    const shown = this.#take(callId);
    if (shown === undefined) return;
    // A waiting call always keeps our id: its answer, its card and the person who answers use it.
    const isToldByUs = outcome.status !== 'ok' && outcome.status !== 'pending';
    this.#calls[shown.index] = { ...shown, outcome, isToldByUs };
    this.#refresh(shown.step);
    if (slot !== undefined && outcome.status === 'ok') this.#takeSlot(slot, shown.index);
  }

  #addLateEnd({ settlement, answer }: SettledEntry): void {
    const message = wellFormed(lateAnswerMessage(settlement));
    this.#messages.push(message);
    const mark = this.#checkpoint;
    if (mark === undefined) return;
    const asked = this.#find(settlement.callId);
    const isFromBefore = asked === undefined || asked.assistantAt < mark.length;
    // What a tool did when it was approved, or had its input, is undone like any call since the checkpoint.
    const waited = asked?.outcome?.status === 'pending' ? asked.outcome.kind : 'result';
    const hasRun = answer !== undefined && ('approve' in answer || waited === 'input');
    if (isFromBefore && !hasRun) mark.answers.push(message);
  }

  /** Only the newest result of a slot stays whole: the last in the order of the calls, whichever ended first. */
  #takeSlot(slot: string, taker: number): void {
    const holder = this.#slots.get(slot);
    const gaveWay = holder !== undefined && holder > taker ? taker : holder;
    if (gaveWay !== taker) this.#slots.set(slot, taker);
    if (gaveWay !== undefined) this.#condense(gaveWay);
  }

  #condense(index: number): void {
    const call = this.#callAt(index);
    this.#calls[index] = { ...call, isCondensed: true };
    this.#checkpoint?.gaveWay.push(index);
    this.#refresh(call.step);
  }

  #trim(keep: readonly string[]): void {
    const step = this.#last;
    if (step === undefined) return;
    this.#forProvider = undefined;
    const shown = step.shown.filter((index) => keep.includes(this.#callAt(index).call.callId));
    this.#last = { ...step, shown };
    if (step.index !== -1) this.#steps[step.index] = this.#last;
    const content = step.reply.content.filter(
      (part) => part.type !== 'tool-call' || part.providerExecuted === true || keep.includes(part.toolCallId),
    );
    this.#set(step.assistantAt, toReplyMessage(step.reply, content));
    this.#refresh(step.index);
  }

  #rewind(text: string): void {
    if (this.#checkpoint !== undefined) this.#goBack(this.#checkpoint);
    this.#last = undefined;
    this.#messages.push(wellFormed(userMessage(text)));
  }

  #goBack(mark: Mark): void {
    this.#forProvider = undefined;
    this.#messages.length = mark.length;
    this.#frozen = Math.min(this.#frozen, mark.length);
    // Calls and steps come in the order of their messages, so those that stay keep their positions.
    this.#steps = this.#steps.filter(({ assistantAt }) => assistantAt < mark.length);
    this.#stale = new Set([...this.#stale].filter((index) => index < this.#steps.length));
    this.#calls = this.#calls.filter(({ assistantAt }) => assistantAt < mark.length);
    this.#byId = undefined;
    this.#slots = new Map(mark.slots);
    for (const index of mark.gaveWay) {
      const call = this.#calls[index];
      if (call === undefined) continue;
      this.#calls[index] = { ...call, isCondensed: false };
      this.#refresh(call.step);
    }
    mark.gaveWay = [];
    this.#messages.push(...mark.answers);
  }

  #refresh(index: number): void {
    const step = this.#steps[index];
    if (step === undefined || step.shown.length === 0) return;
    this.#forProvider?.changed(step);
    this.#stale.add(index);
  }

  #showResults(): void {
    for (const index of this.#stale) {
      const { assistantAt, shown } = this.#steps[index] as Step;
      this.#set(assistantAt + 1, { role: 'tool', content: shown.map((call) => toResultPart(this.#callAt(call))) });
    }
    this.#stale.clear();
  }

  #set(at: number, message: LanguageModelV4Message): void {
    this.#messages[at] = message;
    this.#frozen = Math.min(this.#frozen, at);
  }
}

function toResultPart(
  { call, outcome, isCondensed }: ShownCall,
  toolCallId: string = call.callId,
): LanguageModelV4ToolResultPart {
  const output = isCondensed ? { type: 'text' as const, value: CONDENSED } : toOutput(outcome);
  return { type: 'tool-result', toolCallId, toolName: wellFormed(call.toolName), output: wellFormed(output) };
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
              ...outcome.content.map(toProviderPart),
            ],
          };
    case 'pending':
      return { type: 'text', value: outcome.text };
    default:
      return { type: 'error-text', value: outcome.text };
  }
}
