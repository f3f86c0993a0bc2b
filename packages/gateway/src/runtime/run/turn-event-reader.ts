import type { TurnEvent } from '@lastcall/core';
import { newId } from '../../domain/new-id.ts';
import { cutForPeople } from '../../domain/transcript/cut-output.ts';
import { asJson, fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { RunEvent } from './run-event.ts';
import { createTextField, type TextField } from './text-field.ts';

/**
 * Converts the events that core reports while the model writes and tools run. It tracks how much of the texts of
 * messages was written.
 */
export class TurnEventReader {
  readonly #outputBytes: number;
  readonly #texts = new Map<string, TextField>();
  /** The id of the text of this step. */
  #draftId: string | undefined;

  constructor({ outputBytes }: { outputBytes: number }) {
    this.#outputBytes = outputBytes;
  }

  /** Returns undefined for events that change nothing in the run. */
  read(event: TurnEvent): RunEvent | undefined {
    switch (event.type) {
      case 'step.start':
        this.#texts.clear();
        this.#draftId = undefined;
        return { type: 'step-started', step: event.step, attempt: event.attempt };
      case 'text.delta':
        this.#draftId ??= newId();
        return { type: 'text-written', step: event.step, text: event.text, draftId: this.#draftId };
      case 'reasoning.delta':
        return { type: 'reasoning-written', step: event.step, text: event.text };
      case 'tool-call.start':
        return { type: 'call-began', callId: event.callId, toolName: event.toolName, input: event.input };
      case 'step.end':
        return { type: 'step-ended', step: event.step, usage: event.usage };
      case 'nudge':
        return { type: 'nudged', step: event.step, text: event.text };
      case 'rewind':
        return { type: 'rewound', step: event.step, reason: event.reason, guidance: event.guidance };
      case 'tool-input-start': {
        const { callId, toolName } = event;
        if (toolName === 'send_message') this.#texts.set(callId, createTextField('text'));
        return { type: 'input-started', callId, toolName };
      }
      case 'tool-input-delta': {
        const { callId, delta } = event;
        return { type: 'input-extended', callId, delta, text: this.#texts.get(callId)?.push(delta) ?? '' };
      }
      case 'tool-call.progress':
        return { type: 'progress-reported', callId: event.callId, value: this.#toProgress(event.value) };
      default:
        return undefined;
    }
  }

  /** Serialized now, because the tool may change the value before it is written. */
  #toProgress(value: unknown): unknown {
    const json = toJson(asJson(value));
    return Buffer.byteLength(json) > this.#outputBytes ? cutForPeople(json, this.#outputBytes) : fromJson(json);
  }
}
