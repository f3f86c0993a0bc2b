/** Two letters at most: of the first and the last word, or the first of a single word. Whole characters, also outside of Latin. */
export function initialsOf(name: string): string {
  const words = name.split(/[\s._-]+/u).flatMap((word) => word.match(/[\p{L}\p{N}]\p{M}*/u)?.[0] ?? []);
  const [first = '?'] = words;
  const last = words.length > 1 ? words.at(-1) : undefined;
  return `${first}${last ?? ''}`.toLocaleUpperCase();
}
