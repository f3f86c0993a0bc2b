import { closestNames } from '@lastcall/core/internal';
import { firstFew } from './first-few.ts';

/** The error text for an unknown node: the name that was probably meant, or the names that exist. */
export function unknownNode(name: string, known: readonly string[]): string {
  return unknownName(`there is no node "${name}"`, name, { kind: 'Nodes', known });
}

/** The error text for an unknown field. */
export function unknownField(name: string, known: readonly string[]): string {
  return unknownName(`the state has no field "${name}"`, name, { kind: 'Fields', known });
}

/** The error text for an unknown command. */
export function unknownCommand(name: string, known: readonly string[]): string {
  const listed = known.length === 0 ? ['none'] : known;
  return unknownName(`There is no command "${name}" here`, name, { kind: 'Commands', known: listed });
}

function unknownName(
  problem: string,
  name: string,
  { kind, known }: { readonly kind: string; readonly known: readonly string[] },
): string {
  const [close] = closestNames(String(name), known);
  return close === undefined ? `${problem}. ${kind}: ${firstFew(known)}.` : `${problem}; did you mean "${close}"?`;
}
