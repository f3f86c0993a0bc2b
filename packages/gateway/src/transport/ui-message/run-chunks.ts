import type { Outcome } from '@lastcall/core';
import { parseJson } from '@lastcall/core/internal';
import type { WaitingCall } from '../../domain/calls/waiting-call.ts';
import type { StreamEvent } from '../../ports/bus/bus.ts';
import { canonicalJson } from '../../ports/store/schema/json.ts';
import type { UiChunk } from './ui-chunk.ts';

/** A call for which the client has a part. */
interface KnownCall {
  readonly toolName: string;
  /** The input as it was last sent. */
  readonly inputJson?: string;
  /** The step in which it was written. */
  readonly step?: number | undefined;
}

interface CallPayload {
  readonly callId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly outcome: Outcome;
}

type Payload = CallPayload & { readonly step: number; readonly delta: string; readonly value: unknown };

/**
 * Turns the events of a turn's runs into chunks of a UI message. It never sends a chunk that the client cannot place: no delta
 * without its start, no output without its input. The text of a step is taken back if the model is called for it again.
 */
export class RunChunks {
  readonly #calls = new Map<string, KnownCall>();
  /** Calls that have begun and have not ended. */
  readonly #open = new Set<string>();
  /** Calls that were shown as waiting and whose answers have not been shown. */
  readonly #asked = new Set<string>();
  readonly #approvals = new Set<string>();
  #step: number | undefined;
  #writing: { readonly kind: 'text' | 'reasoning'; readonly id: string } | undefined;
  #parts = 0;

  /** Before its first step, a turn only ends calls of earlier turns, and these are parts of earlier messages. */
  #isBeforeTurn: boolean;

  /** `known`: calls that the client knows from an earlier stream of the turn, where they waited. Without, the whole turn is shown. */
  constructor(known?: Iterable<WaitingCall>) {
    this.#isBeforeTurn = known === undefined;
    if (known === undefined) return;
    for (const { callId, toolName, input } of known) {
      this.#calls.set(callId, { toolName, inputJson: canonicalJson(input) });
      this.#asked.add(callId);
    }
  }

  /** Calls whose end was not sent. */
  get openCalls(): readonly string[] {
    return [...this.#open];
  }

  get askedCalls(): readonly string[] {
    return [...this.#asked];
  }

  /** `call` belongs to an event `tool-call.pending`. */
  of({ type, payload }: Pick<StreamEvent, 'type' | 'payload'>, call?: WaitingCall): readonly UiChunk[] {
    const told = payload as Payload;
    if (this.#isBeforeTurn && type !== 'step.start') return [];
    switch (type) {
      case 'step.start':
        return this.#startStep(told.step);
      case 'text.delta':
        return this.#write('text', told.delta);
      case 'reasoning.delta':
        return this.#write('reasoning', told.delta);
      case 'tool-input-start':
        return this.#startInput(told);
      case 'tool-input-delta':
        return this.#calls.has(told.callId)
          ? [{ type: 'tool-input-delta', toolCallId: told.callId, inputTextDelta: told.delta }]
          : [];
      case 'tool-call.start':
        return this.#startCall(told);
      case 'tool-call.progress':
        return this.#progress(told);
      case 'tool-call.pending':
        return this.#wait(told, call);
      case 'tool-call.complete':
      case 'tool-call.error':
      case 'tool-call.cancelled':
      case 'tool-call.skipped':
        return [...this.#input(told), ...this.#end(told.callId, told.outcome)];
      case 'step.end':
        // A run that is continued repeats the end of the step before.
        return told.step === this.#step ? this.close() : [];
      default:
        return [];
    }
  }

  /** The answers to calls that were shown as waiting, from any source. After an approval, events report the rest. */
  answers(calls: Iterable<WaitingCall>): readonly UiChunk[] {
    return [...calls].flatMap((call): readonly UiChunk[] => {
      const { callId, status } = call;
      if (status === 'pending' || !this.#asked.delete(callId)) return [];
      if (status === 'expired') return this.#fail(callId, 'No one answered in time.');
      if (status === 'cancelled') return this.#fail(callId, 'The call was cancelled before it was answered.');
      const answer = (call.answer ?? {}) as Readonly<Record<string, unknown>>;
      if ('result' in answer) return this.#succeed(callId, answer.result);
      if ('error' in answer) return this.#fail(callId, String(answer.error));
      this.#open.add(callId);
      this.#approvals.add(callId);
      const response = { type: 'tool-approval-response', approvalId: callId } as const;
      return 'deny' in answer
        ? [{ ...response, approved: false, reason: String(answer.deny) }]
        : [{ ...response, approved: true }];
    });
  }

  /** Ends the step, if one is open. */
  close(): readonly UiChunk[] {
    const text = this.#endText();
    if (this.#step === undefined) return text;
    this.#step = undefined;
    return [...text, { type: 'finish-step' }];
  }

  /** A text in a separate step: if the last step contains only finished calls, the page sends the message again. */
  textStep(text: string): readonly UiChunk[] {
    if (text === '') return [];
    return [{ type: 'start-step' }, ...this.#write('text', text), ...this.#endText(), { type: 'finish-step' }];
  }

  /** The end of a call for which there was no event. */
  end(callId: string, outcome: Outcome): readonly UiChunk[] {
    return this.#open.has(callId) ? this.#end(callId, outcome) : [];
  }

  #startStep(step: number): readonly UiChunk[] {
    this.#isBeforeTurn = false;
    if (this.#step !== step) {
      const closed = this.close();
      this.#step = step;
      return [...closed, { type: 'start-step' }];
    }
    this.#writing = undefined;
    for (const [callId, call] of this.#calls) {
      if (call.step !== step) continue;
      this.#calls.delete(callId);
      this.#open.delete(callId);
    }
    return [{ type: 'reset-step' }];
  }

  #write(kind: 'text' | 'reasoning', delta: string): readonly UiChunk[] {
    if (this.#writing?.kind === kind) return [{ type: `${kind}-delta`, id: this.#writing.id, delta }];
    const before = this.#endText();
    this.#parts += 1;
    const id = `${kind}-${this.#parts}`;
    this.#writing = { kind, id };
    return [...before, { type: `${kind}-start`, id }, { type: `${kind}-delta`, id, delta }];
  }

  #endText(): readonly UiChunk[] {
    if (this.#writing === undefined) return [];
    const { kind, id } = this.#writing;
    this.#writing = undefined;
    return [{ type: `${kind}-end`, id }];
  }

  #startInput({ callId, toolName }: CallPayload): readonly UiChunk[] {
    this.#calls.set(callId, { toolName, step: this.#step });
    return [...this.#endText(), { type: 'tool-input-start', toolCallId: callId, toolName }];
  }

  /** The input is the text that the model wrote. */
  #startCall({ callId, toolName, input }: CallPayload): readonly UiChunk[] {
    this.#open.add(callId);
    if (this.#calls.get(callId)?.inputJson !== undefined) return [];
    return this.#input({ callId, toolName, input: typeof input === 'string' ? parsed(input) : input });
  }

  /** The input, unless the client has it. The gateway runs the call, so it is marked as executed by the provider. */
  #input({ callId, toolName, input }: Pick<CallPayload, 'callId' | 'toolName' | 'input'>): readonly UiChunk[] {
    const known = this.#calls.get(callId);
    const inputJson = canonicalJson(input);
    if (known?.inputJson === inputJson) return [];
    this.#calls.set(callId, { toolName, inputJson, step: known === undefined ? this.#step : known.step });
    return [
      ...this.#endText(),
      { type: 'tool-input-available', toolCallId: callId, toolName, input, providerExecuted: true },
    ];
  }

  #progress({ callId, value }: Payload): readonly UiChunk[] {
    const toolName = this.#calls.get(callId)?.toolName;
    return [{ type: 'data-tool-progress', id: callId, data: { toolCallId: callId, toolName, value } }];
  }

  #wait({ callId, toolName, input, outcome }: CallPayload, call: WaitingCall | undefined): readonly UiChunk[] {
    const shown = this.#input({ callId, toolName, input });
    this.#open.delete(callId);
    this.#asked.add(callId);
    if (outcome.status === 'pending' && outcome.kind === 'approval') {
      this.#approvals.add(callId);
      return [...shown, { type: 'tool-approval-request', approvalId: callId, toolCallId: callId }];
    }
    // A page runs every call that is not marked, so calls that were answered before or that a worker takes stay marked.
    if (call?.status !== 'pending' || call.job !== undefined) return shown;
    return [{ type: 'tool-input-available', toolCallId: callId, toolName, input, providerExecuted: false }];
  }

  #end(callId: string, outcome: Outcome): readonly UiChunk[] {
    this.#asked.delete(callId);
    if (outcome.status === 'ok') return this.#succeed(callId, outcome.value ?? outcome.userText ?? outcome.text);
    if (outcome.status === 'error' && outcome.code === 'denied' && this.#approvals.has(callId)) {
      this.#open.delete(callId);
      return [{ type: 'tool-output-denied', toolCallId: callId }];
    }
    return this.#fail(callId, outcome.status === 'error' ? outcome.message : outcome.text);
  }

  #succeed(callId: string, output: unknown): readonly UiChunk[] {
    this.#open.delete(callId);
    return [{ type: 'tool-output-available', toolCallId: callId, output: output ?? null, providerExecuted: true }];
  }

  #fail(callId: string, errorText: string): readonly UiChunk[] {
    this.#open.delete(callId);
    return [{ type: 'tool-output-error', toolCallId: callId, errorText, providerExecuted: true }];
  }
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
