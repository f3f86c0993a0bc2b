import type { Journal, Settlement } from '@lastcall/core';
import { asJson, fromJson, toJson } from '../../ports/store/json.ts';
import { hideTagIn } from '../../telemetry/hide-tag.ts';

/** An entry that ends a call, or tells that it waits. */
export type EndEntry = Parameters<Journal['settle']>[0];

/**
 * Copies the settlement, because the tool may change its result before it is written, and hides the agent's frame tag
 * from the people who read it.
 */
export function snapshotForReaders(settlement: Settlement, tag: string): Settlement {
  const { input, outcome } = fromJson<Pick<Settlement, 'input' | 'outcome'>>(
    toJson({ input: settlement.input, outcome: settlement.outcome }),
  );
  return { ...settlement, input, outcome: hideTagIn(outcome, tag) };
}

/**
 * Makes the settlement storable. The tool has run, whatever it returned: a value that cannot be stored must not undo
 * the call.
 */
export function storable(entry: EndEntry): EndEntry {
  const { input, outcome } = entry.settlement;
  const settlement = { ...entry.settlement, input: asJson(input), outcome: storableOutcome(outcome) };
  return { ...entry, settlement } as EndEntry;
}

export function storableOutcome(outcome: Settlement['outcome']): Settlement['outcome'] {
  return outcome.status === 'ok' ? { ...outcome, value: asJson(outcome.value) } : outcome;
}

/** Removes the expiry time. It is decided in one place, by the pending call's row, and not by a worker's clock. */
export function withoutExpiry(entry: EndEntry): EndEntry {
  const { outcome } = entry.settlement;
  if (outcome.status !== 'pending' || outcome.expiresAt === undefined) return entry;
  const { expiresAt: _expiresAt, ...rest } = outcome;
  return { ...entry, settlement: { ...entry.settlement, outcome: rest } };
}
