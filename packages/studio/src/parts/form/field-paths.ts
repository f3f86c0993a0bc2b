import type { Draft } from './draft.ts';
import type { Field } from './field.ts';
import { pathTo } from './path.ts';

/** The paths at which the form can show a problem. */
export function fieldPaths(field: Field, draft: Draft, path = ''): ReadonlySet<string> {
  const { shape } = field;
  if (shape.kind === 'object') {
    const drafts = draft as Readonly<Record<string, Draft>>;
    const below = shape.properties.flatMap(({ name, field: part }) => [
      ...fieldPaths(part, drafts[name] ?? '', pathTo(path, name)),
    ]);
    // The whole form has no place to show a problem.
    return new Set(path === '' ? below : [path, ...below]);
  }
  if (shape.kind !== 'list' || !Array.isArray(draft)) return new Set([path]);
  return new Set([
    path,
    ...draft.flatMap((one: Draft, index) => [...fieldPaths(shape.item, one, pathTo(path, index))]),
  ]);
}
