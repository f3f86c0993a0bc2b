// Enough to be understood; thousands would fill a model's context or a log.
const MOST = 20;

/** The first names of a list, and how many more there are. */
export function firstFew(names: readonly string[]): string {
  const rest = names.length > MOST ? `, and ${names.length - MOST} more` : '';
  return `${names.slice(0, MOST).join(', ')}${rest}`;
}
