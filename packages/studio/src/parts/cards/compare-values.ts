import { pathTo } from '../form/path.ts';

export interface ComparedRow {
  readonly path: string;
  /** Undefined if there is no value. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly isSame: boolean;
}

/** Compares two values field by field: objects are compared recursively, everything else is one field. */
export function compareValues(before: unknown, after: unknown, path = ''): readonly ComparedRow[] {
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) => compareValues(own(before, name), own(after, name), pathTo(path, name)));
  }
  const [one, other] = [textOf(before), textOf(after)];
  return [{ path, before: one, after: other, isSame: one === other }];
}

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function own(value: Fields, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 1);
}
