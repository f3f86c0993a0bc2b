// Wider than an identifier on purpose: `{{user.name}}` is a placeholder without a parameter, not prose.
const PLACEHOLDER = /\\\{\{|\{\{\s*([\p{ID_Start}$_][\p{ID_Continue}$.-]*)\s*\}\}/gu;

/** The names of a text's placeholders. */
export function placeholdersOf(text: string): ReadonlySet<string> {
  const names = Array.from(text.matchAll(PLACEHOLDER), ([, name]) => name);
  return new Set(names.filter((name) => name !== undefined));
}

/** The text with its placeholders filled, in one pass: a value that looks like a placeholder stays as it is. */
export function fillPlaceholders(text: string, fill: (name: string) => string): string {
  return text.replace(PLACEHOLDER, (_found, name: string | undefined) => (name === undefined ? '{{' : fill(name)));
}
