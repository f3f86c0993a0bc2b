import { MachineError } from '../errors.ts';

// A symbol, because a result that arrived as JSON must never be mistaken for a handler's decision.
export const DECISION: unique symbol = Symbol.for('lastcall.transition') as never;

/** Returns `to`, `spawn`, `cede` or `suspend` if the value was made by that function. */
export function decisionKind(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || (value as { [DECISION]?: unknown })[DECISION] !== true)
    return undefined;
  return String((value as { kind?: unknown }).kind);
}

/**
 * Throws if a decision is returned where none is read. Treated as a plain value, it would be shown to the model as a
 * success, and the transition would never happen.
 */
export function assertNoDecision(value: unknown, where: string): void {
  const kind = kindWithin(value);
  if (kind !== undefined) throw misplaced(kind, where);
}

export function misplaced(kind: string, where: string): MachineError {
  return new MachineError(
    'transition',
    `${where} ${kind}(), and ${kind}() belongs in the handler of a transition: transitions: { name: { description, handler: () => ${kind}(…) } }.`,
  );
}

/** The first decision in the value, at any depth: a decision in a list or in an object was meant as one too. */
function kindWithin(value: unknown): string | undefined {
  const seen = new Set<unknown>();
  const ahead: unknown[] = [value];
  while (ahead.length > 0) {
    const next = ahead.pop();
    const kind = decisionKind(next);
    if (kind !== undefined) return kind;
    if (!isContainer(next) || seen.has(next)) continue;
    seen.add(next);
    for (const item of Object.values(next).reverse()) ahead.push(item);
  }
  return undefined;
}

// Class instances are not searched: reading their getters could have side effects.
function isContainer(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}
