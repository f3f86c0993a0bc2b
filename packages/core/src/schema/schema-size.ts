import { SchemaError } from '../errors.ts';

/** What a schema that is data may hold. The largest of the public MCP servers' have about 3,000 values. */
const MOST: JsonSize = { values: 10_000, characters: 250_000, levels: 100 };

export interface JsonSize {
  /** Objects, arrays, and what they hold. */
  readonly values: number;
  /** About the length as JSON. */
  readonly characters: number;
  readonly levels: number;
}

/** Measures JSON, as far as it is not larger than `most` in any way. */
export function measureJson(json: unknown, most: JsonSize): JsonSize {
  let [values, characters, levels] = [0, 0, 0];
  // A list instead of recursion: a value that is too deep must not use up the stack.
  const waiting: { readonly value: unknown; readonly level: number }[] = [{ value: json, level: 0 }];
  const isLarger = (): boolean =>
    values + waiting.length > most.values || characters > most.characters || levels > most.levels;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, level } = next;
    values += 1;
    characters += typeof value === 'string' ? value.length + 4 : 4;
    levels = Math.max(levels, level);
    for (const key of typeof value === 'object' && value !== null ? Object.keys(value) : []) {
      characters += Array.isArray(value) ? 0 : key.length;
      waiting.push({ value: (value as Record<string, unknown>)[key], level: level + 1 });
    }
    if (isLarger()) return { values: values + waiting.length, characters, levels };
  }
  return { values, characters, levels };
}

/**
 * The size of a schema that is data. Throws a SchemaError for one that is too large to be read: everything that reads it later walks
 * over all of it.
 */
export function schemaSize(schema: unknown): JsonSize {
  const size = measureJson(schema, MOST);
  for (const unit of ['values', 'characters', 'levels'] as const)
    if (size[unit] > MOST[unit])
      throw new SchemaError(
        `The JSON Schema has more than ${MOST[unit].toLocaleString('en')} ${unit}. Describe less, or split it into several tools.`,
      );
  return size;
}
