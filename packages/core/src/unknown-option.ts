import { closestNames } from './closest-names.ts';
import { OptionsError } from './errors.ts';

/** The known names, and for names from other libraries what they are called here. */
export interface KnownNames {
  readonly names: ReadonlySet<string>;
  readonly elsewhere?: Readonly<Record<string, string>>;
}

/** The list is checked against its type: an option that is added and not listed here does not compile. */
export function knownNames<T>(
  names: Readonly<Record<keyof T, true>>,
  elsewhere?: Readonly<Record<string, string>>,
): KnownNames {
  return { names: new Set(Object.keys(names)), ...(elsewhere === undefined ? {} : { elsewhere }) };
}

/** An unknown name, and the problem to report. An undefined option is ignored, known or not. */
export function unknownName(
  given: object,
  known: KnownNames,
  path: string = '',
): { readonly field: string; readonly problem: string } | undefined {
  for (const name of Object.keys(given)) {
    if (known.names.has(name) || (given as Record<string, unknown>)[name] === undefined) continue;
    return { field: path + name, problem: `is not known. ${suggestion(name, known, path)}` };
  }
  return undefined;
}

/** Refuses an unknown option: a misspelt limit would otherwise be silently ignored. */
export function assertKnownOptions(given: object | undefined, known: KnownNames, path: string = ''): void {
  if (given === undefined) return;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new OptionsError(path.slice(0, -1) || 'options', `must be an object. Known: ${[...known.names].join(', ')}.`);
  const unknown = unknownName(given, known, path);
  if (unknown !== undefined) throw new OptionsError(unknown.field, unknown.problem);
}

function suggestion(name: string, { names, elsewhere = {} }: KnownNames, path: string): string {
  const meant = Object.hasOwn(elsewhere, name) ? elsewhere[name] : closestNames(name, [...names])[0];
  return meant === undefined ? `Known: ${[...names].join(', ')}.` : `Did you mean "${path}${meant}"?`;
}
