import type { Changes, Journal, Outcome, Settlement, Staged } from '@lastcall/core';
import { toPlainEntry, withPlainEntry } from '../../domain/consciousness/transcript-row.ts';
import { toJson, withJsonField, withJsonFields } from '../../ports/store/json.ts';
import type { Json } from '../../ports/store/tables.ts';
import { hideTagInJson } from '../../telemetry/hide-tag.ts';

/** An entry that ends a call, or tells that it waits. */
export type EndEntry = Parameters<Journal['settle']>[0];

/** The texts of a settlement. All are joined from one text of the input and one of the outcome. */
export interface SettlementJson {
  /** The row of the transcript. */
  readonly entry: Json;
  /** The outcome in the call's row: complete, also if what everybody else reads was cut. */
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
  /** What the call changed of the session. Its events are not kept: what the slices made of them is. */
  readonly slices: Staged['slices'];
  /** What people are told that the call changed. */
  readonly changes?: Changes | undefined;
  /** The outcome before it was cut, or the outcome itself. */
  readonly fullOutcome: Outcome;
  /** The agent's frame tag. It is hidden from the people who read the settlement. */
  readonly tag: string;
}

/**
 * Serializes the end of a call, once and right away: the tool may change its result before it is written. The tool has run, whatever
 * it returned: a value that JSON cannot hold is kept as far as it can, and never undoes the call.
 */
export function serializeEnd(given: EndEntry, details: EndDetails): SerializedEnd {
  // Of a call that waits, the input and what people are shown are written later: those are copied now.
  return given.settlement.outcome.status === 'pending'
    ? serialize(given, toPlainEntry(given), details)
    : withPlainEntry(given, (plain) => serialize(given, plain, details));
}

function serialize(
  given: EndEntry,
  { settlement, ...how }: EndEntry,
  { slices = {}, changes, fullOutcome, tag }: EndDetails,
): SerializedEnd {
  const { input, outcome, ...call } = settlement;
  const texts = outcomeJson(outcome);
  const inputJson = toJson(input);
  const { callId, toolName } = call;
  const changed: { changes?: Json } = changes === undefined ? {} : { changes: toJson(changes) };
  const seen = withFields({ callId, toolName }, { input: inputJson, outcome: texts.seen, ...changed });
  const runEvent = hideTagInJson(seen, tag);
  const hide = (text: Json): Json => (runEvent === seen ? text : hideTagInJson(text, tag));
  const isCut = fullOutcome !== given.settlement.outcome;
  return {
    settlement,
    json: {
      entry: withFields(
        {},
        {
          entry: withFields(how, { settlement: withFields(call, { input: inputJson, outcome: texts.stored }) }),
          staged: toJson({ events: [], slices }),
          ...changed,
        },
      ),
      outcome: isCut ? hideTagInJson(fullJson(given, fullOutcome), tag) : hide(texts.seen),
      runEvent,
      output: texts.output === undefined ? undefined : hide(texts.output),
    },
  };
}

/**
 * `stored` leaves out when a pending call expires. That is decided in one place, by the pending call's row, and not by a worker's clock.
 */
function outcomeJson(outcome: Outcome): { stored: Json; seen: Json; output: Json | undefined } {
  if (outcome.status === 'pending') {
    const { expiresAt, ...rest } = outcome;
    const stored = toJson(rest);
    const seen = expiresAt === undefined ? stored : withJsonField(stored, 'expiresAt', toJson(expiresAt));
    return { stored, seen, output: undefined };
  }
  if (outcome.status !== 'ok') {
    const text = toJson(outcome);
    return { stored: text, seen: text, output: toJson(outcome.text) };
  }
  const { value, ...rest } = outcome;
  const output = value === undefined ? undefined : toJson(value);
  const text = output === undefined ? toJson(rest) : withJsonField(toJson(rest), 'value', output);
  return { stored: text, seen: text, output };
}

function fullJson(given: EndEntry, fullOutcome: Outcome): Json {
  const settlement = { ...given.settlement, input: null, outcome: fullOutcome };
  return withPlainEntry({ ...given, settlement } as EndEntry, (plain) => outcomeJson(plain.settlement.outcome).seen);
}

function withFields(object: object, fields: Readonly<Record<string, Json>>): Json {
  return withJsonFields(toJson(object), fields);
}
