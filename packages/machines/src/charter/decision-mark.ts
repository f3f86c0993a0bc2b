import { MachineError } from '../errors.ts';

// A symbol, because a result that came as JSON from elsewhere must never pass for a decision of a handler.
export const DECISION: unique symbol = Symbol.for('lastcall.transition') as never;

/** `to`, `spawn`, `cede` or `suspend`, where the value was made by that function. */
export function decisionKind(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || (value as { [DECISION]?: unknown })[DECISION] !== true)
    return undefined;
  return String((value as { kind?: unknown }).kind);
}

/**
 * Throws where a decision stands in a place that reads none. Taken for a plain value it would be told to the model as a
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

/** The first decision in the value, however deep: a list of them, or one in an object, was meant as one too. */
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

// Instances of classes are not looked into: reading their getters could do anything.
function isContainer(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}
