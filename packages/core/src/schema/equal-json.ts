import type { Steps } from './steps.ts';

/** Whether two JSON values are equal: the order of keys does not matter, and 1 is not true. */
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

/** Whether an item occurs twice, without comparing each with each. */
export function hasEqualItems(items: readonly unknown[], steps: Steps): boolean {
  const texts = new Set<string>();
  for (const item of items) texts.add(canonicalText(item, steps));
  return texts.size < items.length;
}

/**
 * The same text for equal values, and different texts for different ones. The pieces are joined once, however deep the
 * value is.
 */
function canonicalText(value: unknown, steps: Steps): string {
  const pieces: string[] = [];
  writeValue(value, pieces, steps);
  return pieces.join('');
}

function writeValue(value: unknown, pieces: string[], steps: Steps): void {
  steps.take(8);
  if (typeof value === 'string') writeText(value, pieces, steps);
  else if (typeof value !== 'object' || value === null) pieces.push(JSON.stringify(value) ?? String(value));
  else if (Array.isArray(value)) writeList(value, pieces, steps);
  else writeObject(value, pieces, steps);
}

function writeText(text: string, pieces: string[], steps: Steps): void {
  steps.takeText(text.length * 8);
  pieces.push(JSON.stringify(text));
}

function writeList(list: readonly unknown[], pieces: string[], steps: Steps): void {
  pieces.push('[');
  for (const item of list) {
    writeValue(item, pieces, steps);
    pieces.push(',');
  }
  pieces.push(']');
}

function writeObject(value: object, pieces: string[], steps: Steps): void {
  const keys = Object.keys(value);
  // Sorting compares keys, and each may be long.
  for (const key of keys) steps.takeText(8 * (32 + key.length));
  pieces.push('{');
  for (const key of keys.sort()) {
    writeText(key, pieces, steps);
    pieces.push(':');
    writeValue(fieldOf(value, key), pieces, steps);
    pieces.push(',');
  }
  pieces.push('}');
}

function fieldOf(value: object, key: string): unknown {
  return (value as Record<string, unknown>)[key];
}
