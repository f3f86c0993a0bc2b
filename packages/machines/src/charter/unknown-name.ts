import { closestNames } from '@lastcall/core/internal';
import { firstFew } from './first-few.ts';

/** What to say of a node that is not there: the name that was probably meant, or those there are. */
export function unknownNode(name: string, known: readonly string[]): string {
  return unknownName(`there is no node "${name}"`, name, { kind: 'Nodes', known });
}

/** What to say of a field that is not there. */
export function unknownField(name: string, known: readonly string[]): string {
  return unknownName(`the state has no field "${name}"`, name, { kind: 'Fields', known });
}

/** What to say of a command that is not there. */
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
