import type { LanguageModelV4Message, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import type { Outcome } from '../results/outcome.ts';
import type { Entry, ReplyEntry, RequestedCall } from './entry.ts';
import { userMessage } from './message.ts';

/** Which condensing slot a tool's results belong to, if any. */
export type SlotOf = (toolName: string) => string | undefined;

interface Step {
  readonly reply: ReplyEntry;
  /** Where its messages stand. */
  readonly assistantAt: number;
  readonly outcomes: Map<string, Outcome>;
  shown: readonly RequestedCall[];
}

const CONDENSED = '[An older result, left out: a newer one follows.]';
const UNSETTLED = 'This call has not been settled yet.';

/**
 * What a model is shown, derived from the transcript entry by entry, so that a step costs the same however many came
 * before. At every point each call is followed directly by its one result: a call that has none yet is shown a provisional
 * one.
 */
export class View {
  readonly #messages: LanguageModelV4Message[] = [];
  readonly #slots = new Map<string, { step: Step; callId: string }>();
  readonly #byCall = new Map<string, Step>();
  #last: Step | undefined;
  #checkpoint: number | undefined;
  slotOf: SlotOf = () => undefined;

  /** A copy: what a model was sent does not change under it. */
  messages(): LanguageModelV4Message[] {
    return this.#messages.slice();
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
        this.#addOutcome(entry.settlement.callId, entry.settlement.toolName, entry.settlement.outcome);
        return;
      case 'settled':
        if (entry.late !== true)
          this.#addOutcome(entry.settlement.callId, entry.settlement.toolName, entry.settlement.outcome);
        return;
      case 'trimmed':
        this.#trim(entry.keep);
        return;
      case 'checkpoint':
        this.#checkpoint = this.#messages.length;
        return;
      case 'rewind':
        this.#rewind(entry.text);
        return;
      case 'turn':
      case 'started':
      case 'stop':
        return;
    }
  }

  #addReply(reply: ReplyEntry): void {
    const step: Step = { reply, assistantAt: this.#messages.length, outcomes: new Map(), shown: ownCalls(reply) };
    this.#last = step;
    for (const { callId } of reply.calls) this.#byCall.set(callId, step);
    this.#messages.push({ role: 'assistant', content: reply.content });
    if (step.shown.length > 0) this.#messages.push(toolMessage(step));
  }

  #addOutcome(callId: string, toolName: string, outcome: Outcome): void {
    const step = this.#byCall.get(callId);
    if (step === undefined) return;
    step.outcomes.set(callId, outcome);
    this.#refresh(step);
    if (outcome.status === 'ok') this.#condenseOlder(step, callId, toolName);
  }

  /** Only the newest result of a slot stays whole. */
  #condenseOlder(step: Step, callId: string, toolName: string): void {
    const slot = this.slotOf(toolName);
    if (slot === undefined) return;
    const older = this.#slots.get(slot);
    this.#slots.set(slot, { step, callId });
    if (older === undefined || older.callId === callId || this.#messages[older.step.assistantAt + 1]?.role !== 'tool')
      return;
    older.step.outcomes.set(older.callId, { status: 'ok', value: undefined, text: CONDENSED });
    this.#refresh(older.step);
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
    if (this.#checkpoint !== undefined) this.#messages.length = this.#checkpoint;
    this.#byCall.clear();
    this.#slots.clear();
    this.#last = undefined;
    this.#messages.push(userMessage(text));
  }

  #refresh(step: Step): void {
    if (step.shown.length > 0) this.#messages[step.assistantAt + 1] = toolMessage(step);
  }
}

function ownCalls(reply: ReplyEntry): readonly RequestedCall[] {
  return reply.calls.filter(({ provided }) => provided === undefined);
}

function toolMessage(step: Step): LanguageModelV4Message {
  return { role: 'tool', content: step.shown.map((call) => toResultPart(call, step.outcomes.get(call.callId))) };
}

function toResultPart(
  { callId, toolName }: RequestedCall,
  outcome: Outcome | undefined,
): LanguageModelV4ToolResultPart {
  return { type: 'tool-result', toolCallId: callId, toolName, output: toOutput(outcome) };
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
