import type { LanguageModelV4Message, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import type { Outcome, Settlement } from '../results/outcome.ts';
import { renderValue } from '../results/render.ts';
import type { Entry, ReplyEntry, RequestedCall } from './entry.ts';
import { userMessage } from './message.ts';

interface Step {
  readonly reply: ReplyEntry;
  /** Where its messages stand. */
  readonly assistantAt: number;
  readonly outcomes: Map<string, Outcome>;
  /** Calls whose results gave way to newer ones. */
  condensed: Set<string> | undefined;
  shown: readonly RequestedCall[];
}

/** The result that holds a slot, or held it. */
interface Holder {
  readonly step: Step;
  readonly callId: string;
}

/** What the view goes back to. */
interface Mark {
  readonly length: number;
  readonly slots: ReadonlyMap<string, Holder>;
  /** What gave way since: the newer result goes with a rewind, and the older is the newest again. */
  gaveWay: Holder[];
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
  readonly #messages: LanguageModelV4Message[] = [];
  #slots = new Map<string, Holder>();
  readonly #byCall = new Map<string, Step>();
  #last: Step | undefined;
  /** Steps whose results are shown otherwise than they are: written anew when somebody looks. */
  readonly #stale = new Set<Step>();
  #checkpoint: Mark | undefined;

  /** A copy: what a model was sent does not change under it. */
  messages(): LanguageModelV4Message[] {
    this.#showResults();
    return this.#messages.slice();
  }

  /** What the model had been shown when it asked for the call. */
  before(callId: string): LanguageModelV4Message[] {
    this.#showResults();
    return this.#messages.slice(0, this.#byCall.get(callId)?.assistantAt);
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
        if (entry.late === true) this.#messages.push(userMessage(lateAnswerText(entry.settlement)));
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
    const step: Step = {
      reply,
      assistantAt: this.#messages.length,
      outcomes: new Map(),
      condensed: undefined,
      shown: ownCalls(reply),
    };
    this.#last = step;
    for (const { callId } of reply.calls) this.#byCall.set(callId, step);
    // Providers refuse a message without content.
    if (reply.content.length > 0) this.#messages.push({ role: 'assistant', content: reply.content });
    if (step.shown.length === 0) return;
    this.#messages.push(NO_RESULTS);
    this.#stale.add(step);
  }

  #addOutcome(callId: string, outcome: Outcome, slot: string | undefined): void {
    const step = this.#byCall.get(callId);
    if (step === undefined) return;
    step.outcomes.set(callId, outcome);
    this.#refresh(step);
    if (slot !== undefined && outcome.status === 'ok') this.#takeSlot(slot, { step, callId });
  }

  /** Only the newest result of a slot stays whole: the last in the order of the calls, whichever ended first. */
  #takeSlot(slot: string, taker: Holder): void {
    const holder = this.#slots.get(slot);
    const gaveWay = holder !== undefined && isAfter(holder, taker) ? taker : holder;
    if (gaveWay !== taker) this.#slots.set(slot, taker);
    if (gaveWay !== undefined) this.#condense(gaveWay);
  }

  #condense(holder: Holder): void {
    holder.step.condensed ??= new Set();
    holder.step.condensed.add(holder.callId);
    this.#checkpoint?.gaveWay.push(holder);
    this.#refresh(holder.step);
  }

  #trim(keep: readonly string[]): void {
    const step = this.#last;
    if (step === undefined) return;
    step.shown = step.shown.filter(({ callId }) => keep.includes(callId));
    const content = step.reply.content.filter(
      (part) => part.type !== 'tool-call' || part.providerExecuted === true || keep.includes(part.toolCallId),
    );
    this.#messages[step.assistantAt] = { role: 'assistant', content };
    this.#refresh(step);
  }

  #rewind(text: string): void {
    if (this.#checkpoint !== undefined) this.#goBack(this.#checkpoint);
    this.#last = undefined;
    this.#messages.push(userMessage(text));
  }

  #goBack(mark: Mark): void {
    this.#messages.length = mark.length;
    for (const step of this.#stale) if (step.assistantAt >= mark.length) this.#stale.delete(step);
    for (const [callId, step] of this.#byCall) if (step.assistantAt >= mark.length) this.#byCall.delete(callId);
    this.#slots = new Map(mark.slots);
    for (const { step, callId } of mark.gaveWay) {
      step.condensed?.delete(callId);
      if (step.assistantAt < mark.length) this.#refresh(step);
    }
    mark.gaveWay = [];
  }

  #refresh(step: Step): void {
    if (step.shown.length > 0) this.#stale.add(step);
  }

  #showResults(): void {
    for (const step of this.#stale) this.#messages[step.assistantAt + 1] = toolMessage(step);
    this.#stale.clear();
  }
}

/** The model has moved on since the call: it needs to be told which one this is about. */
function lateAnswerText({ callId, toolName, input, outcome }: Settlement): string {
  return `The answer to call ${callId} (${toolName} ${renderValue(input)}) has come:\n\n${outcome.text}`;
}

function ownCalls(reply: ReplyEntry): readonly RequestedCall[] {
  return reply.calls.filter(({ provided }) => provided === undefined);
}

function isAfter(one: Holder, other: Holder): boolean {
  if (one.step !== other.step) return one.step.assistantAt > other.step.assistantAt;
  return placeOf(one) > placeOf(other);
}

function placeOf({ step, callId }: Holder): number {
  return step.reply.calls.findIndex((call) => call.callId === callId);
}

function toolMessage(step: Step): LanguageModelV4Message {
  return { role: 'tool', content: step.shown.map((call) => toResultPart(call, step)) };
}

function toResultPart({ callId, toolName }: RequestedCall, step: Step): LanguageModelV4ToolResultPart {
  const output =
    step.condensed?.has(callId) === true
      ? { type: 'text' as const, value: CONDENSED }
      : toOutput(step.outcomes.get(callId));
  return { type: 'tool-result', toolCallId: callId, toolName, output };
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
