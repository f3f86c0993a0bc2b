import { SchemaError } from '../errors.ts';

/** The limits of a schema that is data. The largest schemas of public MCP servers have about 3,000 values. */
const MOST: JsonSize = { values: 10_000, characters: 250_000, levels: 100 };

export interface JsonSize {
  /** Objects, arrays, and the values in them. */
  readonly values: number;
  /** The approximate length as JSON. */
  readonly characters: number;
  readonly levels: number;
}

/** Measures JSON, and stops once it exceeds `most` in any way. */
export function measureJson(json: unknown, most: JsonSize): JsonSize {
  let [values, characters, levels] = [0, 0, 0];
  // A list instead of recursion: a value that is too deep must not overflow the stack.
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
 * The size of a schema that is data. Throws a SchemaError if it is too large, because all later code walks over the
 * whole schema.
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
