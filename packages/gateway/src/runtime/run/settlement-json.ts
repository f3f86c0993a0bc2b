import type { Changes, Journal, Outcome, Settlement, Staged } from '@lastcall/core';
import { toPlainEntry, withPlainEntry } from '../../domain/transcript/transcript-row.ts';
import { toJson, withJsonField, withJsonFields } from '../../ports/store/schema/json.ts';
import type { Json } from '../../ports/store/schema/tables.ts';

/** An entry that ends a call, or says that it waits. */
export type EndEntry = Parameters<Journal['settle']>[0];

/** The JSON texts of a settlement. The input and the outcome are serialized once and used in all of them. */
export interface SettlementJson {
  /** The row of the transcript. */
  readonly entry: Json;
  /** The outcome in the call's row. It is complete, even if the output was cut for everything else. */
  readonly outcome: Json;
  /** The event on the run's stream. */
  readonly runEvent: Json;
  /** The output on a card. Undefined if the tool returned nothing. */
  readonly output: Json | undefined;
}

export interface SerializedEnd {
  readonly settlement: Settlement;
  readonly json: SettlementJson;
}

export interface EndDetails {
  /** The call's changes of the session. Only the resulting slices are stored, not their events. */
  readonly slices: Staged['slices'];
  /** What the call did to the tree of its machine. */
  readonly machine?: unknown;
  /** The changes of the call that people are shown. */
  readonly changes?: Changes | undefined;
  /** The full outcome before it was cut, or the outcome itself. */
  readonly fullOutcome: Outcome;
}

/**
 * Serializes the end of a call, once and immediately, because the tool may change its result before it is written. The
 * tool has already run: if JSON cannot represent its value, as much as possible is stored, and the call still counts.
 */
export function serializeEnd(given: EndEntry, details: EndDetails): SerializedEnd {
  // For a call that waits, the input and the displayed text are written later, so they are copied now.
  return given.settlement.outcome.status === 'pending'
    ? serialize(given, toPlainEntry(given), details)
    : withPlainEntry(given, (plain) => serialize(given, plain, details));
}

function serialize(
  given: EndEntry,
  { settlement, ...how }: EndEntry,
  { slices = {}, machine, changes, fullOutcome }: EndDetails,
): SerializedEnd {
  const { input, outcome, ...call } = settlement;
  const { text, output } = outcomeJson(outcome);
  const inputJson = toJson(input);
  const { callId, toolName } = call;
  const changed: { changes?: Json } = changes === undefined ? {} : { changes: toJson(changes) };
  const runEvent = withFields({ callId, toolName }, { input: inputJson, outcome: text, ...changed });
  const isCut = fullOutcome !== given.settlement.outcome;
  return {
    settlement,
    json: {
      entry: withFields(
        {},
        {
          entry: withFields(how, { settlement: withFields(call, { input: inputJson, outcome: text }) }),
          staged: toJson({ events: [], slices, ...(machine === undefined ? {} : { machine }) }),
          ...changed,
        },
      ),
      outcome: isCut ? fullJson(given, fullOutcome) : text,
      runEvent,
      output,
    },
  };
}

/** Leaves out when a waiting call expires: that is by a worker's clock, and the clock of the database decides it when the call is stored. */
function outcomeJson(outcome: Outcome): { text: Json; output: Json | undefined } {
  if (outcome.status === 'pending') {
    const { expiresAt: _expiresAt, ...rest } = outcome;
    return { text: toJson(rest), output: undefined };
  }
  if (outcome.status !== 'ok') return { text: toJson(outcome), output: toJson(outcome.text) };
  const { value, ...rest } = outcome;
  const output = value === undefined ? undefined : toJson(value);
  return { text: output === undefined ? toJson(rest) : withJsonField(toJson(rest), 'value', output), output };
}

function fullJson(given: EndEntry, fullOutcome: Outcome): Json {
  const settlement = { ...given.settlement, input: null, outcome: fullOutcome };
  return withPlainEntry({ ...given, settlement } as EndEntry, (plain) => outcomeJson(plain.settlement.outcome).text);
}

function withFields(object: object, fields: Readonly<Record<string, Json>>): Json {
  return withJsonFields(toJson(object), fields);
}
