/*
 * What an approval, and a grant, is for: `<definition>` or `<definition>.<code>`, two hashes. An approval that was requested is compared
 * by the first. A grant lasts longer, so both are compared. `.no` stands for a tool whose calls cannot be granted.
 */
const NOT_GRANTED = 'no';

export function toAskedDefinition(definition: string, code: string | undefined): string {
  return `${definition}.${code ?? NOT_GRANTED}`;
}

/** The part that an approval is compared by. */
export function definitionPart(asked: string): string {
  return asked.split('.', 1)[0] ?? '';
}

/** False for a tool that forbids it, for one whose definition is not known, and for calls of earlier versions of the gateway. */
export function canBeGranted(asked: string | null): boolean {
  const [definition = '', code = ''] = asked?.split('.') ?? [];
  return definition !== '' && code !== '' && code !== NOT_GRANTED;
}
