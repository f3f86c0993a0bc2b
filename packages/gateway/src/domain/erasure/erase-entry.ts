import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Answer, Entry, Outcome, Settlement } from '@lastcall/core';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { Json } from '../../ports/store/schema/tables.ts';
import { frameMessage, isFrame } from '../frame.ts';
import { COMMAND_RESULT, type CommandResult, INPUT, type MachineInput } from '../transcript/machine-rows.ts';
import { COMPACTION } from '../transcript/transcript-row.ts';
import { ERASED, ERASED_INPUT, ERASED_JSON } from './mark.ts';

/*
 * What is left of a transcript after an erasure. It is still valid: every call keeps its id, its tool and its end, so that a provider
 * accepts it. Reasoning is removed as a whole, because providers sign it and refuse a changed one.
 */

/** The row of a transcript without texts. Session changes of calls are left to `Copies`: another value could not be restored. */
export function eraseEntryPayload(kind: string, payload: Json): Json {
  if (kind === COMPACTION) {
    const { carried, ...compaction } = fromJson<{ readonly carried: readonly Entry[] }>(payload);
    return toJson({ ...compaction, summary: ERASED, carried: carried.map(eraseEntry) });
  }
  const { changes: _changes, ...record } = fromJson<{ readonly entry?: Entry; readonly changes?: unknown }>(payload);
  return toJson(record.entry === undefined ? record : { ...record, entry: eraseEntry(record.entry) });
}

function eraseEntry(entry: Entry): Entry {
  switch (entry.kind) {
    case 'message':
      return { kind: 'message', message: eraseMessage(entry.message) };
    case 'reply': {
      const { warnings: _warnings, ...reply } = entry;
      return {
        ...reply,
        text: entry.text === '' ? '' : ERASED,
        content: eraseParts(entry.content) as typeof entry.content,
        calls: entry.calls.map(({ provided, ...call }) => ({
          ...call,
          input: toJson(ERASED_INPUT),
          ...(provided === undefined ? {} : { provided: { result: ERASED, isError: provided.isError } }),
        })),
      };
    }
    case 'started':
      return { ...entry, ...erasedAnswer(entry.answer) };
    case 'pending':
      return { ...entry, settlement: eraseSettlement(entry.settlement) };
    case 'settled':
      return {
        ...entry,
        settlement: eraseSettlement(entry.settlement),
        ...erasedAnswer(entry.answer),
        ...(entry.endsTurn === undefined ? {} : { endsTurn: { response: ERASED, output: ERASED } }),
      };
    case 'rewind':
      return { ...entry, text: ERASED, remaining: entry.remaining.map(() => ERASED) };
    case 'stop':
      return { ...entry, stop: eraseStop(entry.stop) };
    default:
      return eraseMachineEntry(entry);
  }
}

/** What a run gave to a machine, and how its commands ended: see machine-rows.ts. Its tree is left to `Copies`. */
function eraseMachineEntry(entry: object): Entry {
  const { kind, messages, answers = {}, commands } = entry as MachineInput;
  const { output, error } = entry as CommandResult;
  if ((kind as string) === COMMAND_RESULT)
    return {
      ...entry,
      ...(error === undefined ? { output: output === undefined ? null : ERASED } : { error: ERASED }),
    } as never;
  if (kind !== INPUT) return entry as Entry;
  return {
    ...entry,
    messages: messages.map(eraseMessage),
    answers: Object.fromEntries(Object.entries(answers).map(([id, answer]) => [id, eraseAnswer(answer)])),
    ...(commands === undefined ? {} : { commands: commands.map((one) => ({ ...one, input: ERASED_INPUT })) }),
  } as never;
}

function eraseStop(stop: Extract<Entry, { kind: 'stop' }>['stop']): typeof stop {
  if (stop.reason === 'transition') return { ...stop, value: ERASED };
  return stop.reason === 'error' ? { ...stop, error: ERASED } : stop;
}

export function eraseMessage(message: LanguageModelV4Message): LanguageModelV4Message {
  if (isFrame(message)) return frameMessage(ERASED);
  if (message.role === 'system') return { role: 'system', content: ERASED };
  const content = eraseParts(message.content as readonly Part[]);
  return { role: message.role, content } as LanguageModelV4Message;
}

interface Part {
  readonly type: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
}

/** A message of a model, or of a person, has at least one part. */
function eraseParts(parts: readonly Part[]): readonly unknown[] {
  const erased = parts.flatMap((part): readonly unknown[] => {
    const { type, toolCallId, toolName } = part;
    if (type === 'text' || type === 'file') return [{ type: 'text', text: ERASED }];
    if (type === 'tool-call') return [{ type, toolCallId, toolName, input: ERASED_INPUT, ...executed(part) }];
    if (type === 'tool-result') return [{ type, toolCallId, toolName, output: { type: 'text', value: ERASED } }];
    return [];
  });
  return erased.length === 0 ? [{ type: 'text', text: ERASED }] : erased;
}

const executed = (part: object): object =>
  'providerExecuted' in part ? { providerExecuted: part.providerExecuted } : {};

function eraseSettlement(settlement: Settlement): Settlement {
  return { ...settlement, input: ERASED_INPUT, outcome: eraseOutcome(settlement.outcome) };
}

function eraseOutcome(outcome: Outcome): Outcome {
  switch (outcome.status) {
    case 'ok':
      return { status: 'ok', value: ERASED, text: ERASED };
    case 'error':
      return { ...outcome, message: ERASED, text: ERASED };
    case 'cancelled':
    case 'skipped':
      return { ...outcome, reason: ERASED, text: ERASED };
    case 'pending': {
      const { display: _display, ...pending } = outcome;
      return { ...pending, text: ERASED };
    }
  }
}

/** The outcome in the row of a call. */
export function eraseOutcomeJson(outcome: Json | null): Json | null {
  return outcome === null ? null : toJson(eraseOutcome(fromJson<Outcome>(outcome)));
}

function erasedAnswer(answer: Answer | undefined): { readonly answer?: Answer } {
  return answer === undefined ? {} : { answer: eraseAnswer(answer) };
}

function eraseAnswer(answer: Answer): Answer {
  if ('result' in answer) return { result: ERASED };
  if ('error' in answer) return { error: ERASED };
  return 'deny' in answer ? { deny: ERASED } : { approve: true };
}

/** The answer in the row of a call. It may be of any shape that its tool accepts. */
export function eraseAnswerJson(answer: Json | null): Json | null {
  if (answer === null) return null;
  const given = fromJson<unknown>(answer);
  const isAnswer = typeof given === 'object' && given !== null && ANSWERS.some((key) => key in given);
  return isAnswer ? toJson(eraseAnswer(given as Answer)) : ERASED_JSON;
}

const ANSWERS = ['result', 'error', 'approve', 'deny'] as const;
