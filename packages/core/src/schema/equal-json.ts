import type { Steps } from './steps.ts';

/** Whether two JSON values are equal: the order of keys says nothing, and 1 is not true. */
export function equalJson(one: unknown, other: unknown, steps: Steps): boolean {
  steps.take();
  if (typeof one === 'string' && typeof other === 'string') steps.takeText(Math.min(one.length, other.length));
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  if (Array.isArray(one) && one.length !== (other as readonly unknown[]).length) return false;
  const [keys, others] = [Object.keys(one), Object.keys(other)];
  steps.take(keys.length + others.length);
  if (keys.length !== others.length) return false;
  return keys.every((key) => Object.hasOwn(other, key) && equalJson(fieldOf(one, key), fieldOf(other, key), steps));
}

/** Whether an item is there twice, without comparing each with each. */
export function hasEqualItems(items: readonly unknown[], steps: Steps): boolean {
  const texts = new Set<string>();
  for (const item of items) texts.add(canonicalText(item, steps));
  return texts.size < items.length;
}

/** The same text for equal values, and another one for others. */
function canonicalText(value: unknown, steps: Steps): string {
  steps.take(8);
  if (typeof value === 'string') steps.takeText(value.length * 8);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? String(value);
  if (Array.isArray(value)) return `[${value.map((item) => canonicalText(item, steps)).join()}]`;
  const keys = Object.keys(value).sort();
  steps.take(8 * keys.length);
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalText(fieldOf(value, key), steps)}`).join()}}`;
}

function fieldOf(value: object, key: string): unknown {
  return (value as Record<string, unknown>)[key];
}
