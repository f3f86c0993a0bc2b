/** A field of an input, as a card shows it. */
export interface InputPart {
  /** Tells it from the other fields. */
  readonly path: string;
  /** The title from the tool's schema, else its name. */
  readonly label: string;
  /** Undefined if it is the label. */
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly value: unknown;
  /** True if it is closed at first, because it would push everything else out of view. */
  readonly isLong: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * A whole input, field by field: short fields first, each group in its order. `schema` is that of the input, if it is
 * known.
 */
export function inputParts(input: unknown, schema?: unknown): readonly InputPart[] {
  if (!isFields(input)) return [partOf('Input', '', input)];
  const parts = Object.entries(input).map(([name, value]) => {
    const { title, description } = propertyOf(schema, name);
    const label = typeof title === 'string' && title !== '' ? title : name;
    const about = typeof description === 'string' && description !== '' ? { description } : {};
    return { ...partOf(label, name, value), ...(label === name ? {} : { name }), ...about };
  });
  const [short, long] = [parts.filter(({ isLong }) => !isLong), parts.filter(({ isLong }) => isLong)];
  return [...withinScreen(short, input), ...long];
}

/** A text as a part, e.g. a question. */
export function partOf(label: string, path: string, value: unknown): InputPart {
  return { path, label, value, isLong: linesOf(value) + linesOf(label) > MOST_LINES };
}

/** About as many lines as fit on a screen, all fields together. */
const SCREEN_LINES = 30;
/** Parts with more lines than this are closed at first. */
const MOST_LINES = 12;
/** The approximate number of characters in a line of a card. */
const LINE_CHARACTERS = 60;

/** The fields that do not fit on a screen are combined into one more part, which is closed at first. */
function withinScreen(parts: readonly InputPart[], input: Fields): readonly InputPart[] {
  let lines = 0;
  const end = parts.findIndex(({ value, label, description = '' }) => {
    lines += linesOf(value) + linesOf(label) + linesOf(description);
    return lines > SCREEN_LINES;
  });
  if (end === -1) return parts;
  const rest = new Set(parts.slice(end).map(({ path }) => path));
  const value = Object.fromEntries(Object.entries(input).filter(([name]) => rest.has(name)));
  return [...parts.slice(0, end), { path: '…', label: `${rest.size} more fields`, value, isLong: true }];
}

/** The approximate number of lines that a value takes. */
function linesOf(value: unknown, depth = 0): number {
  if (typeof value === 'string')
    return value.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / LINE_CHARACTERS)), 0);
  if (typeof value !== 'object' || value === null) return 1;
  if (depth >= MAX_DEPTH) return linesOf(JSON.stringify(value));
  return Object.entries(value).reduce((sum, [name, one]) => sum + linesOf(name) + linesOf(one, depth + 1), 0);
}

/** Values nested deeper than this are shown as JSON. */
export const MAX_DEPTH = 6;

function propertyOf(schema: unknown, name: string): Fields {
  const properties = isFields(schema) && isFields(schema.properties) ? schema.properties : {};
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isFields(property) ? property : {};
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
