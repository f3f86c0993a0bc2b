/** Texts one after the other, with an empty line between them. Empty ones are left out. */
export function joinTexts(...texts: readonly string[]): string {
  return texts
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join('\n\n');
}
