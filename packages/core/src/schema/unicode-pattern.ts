/**
 * A source that compiles with the `u` flag, which the interpreter always sets, or undefined. Patterns from Python or
 * from a JavaScript expression without the flag often have needless escapes (`\_`, `\-`) or a bare hyphen beside a
 * class (`[\w-.]`): with the flag both are errors, so they are rewritten in the strict form.
 */
export function unicodePattern(source: string): string | undefined {
  return [source, strictlyEscaped(source)].find(compiles);
}

function compiles(source: string): boolean {
  try {
    new RegExp(source, 'u');
    return true;
  } catch {
    return false;
  }
}

// An escape, or one character.
const TOKEN = /\\?./gsu;
const MUST_BE_ESCAPED = /[\w^$\\.*+?()[\]{}|/]/;

function strictlyEscaped(source: string): string {
  let inClass = false;
  let previous = '';
  return source.replace(TOKEN, (token, at: number) => {
    const isAfterClassEscape = /^\\[wdsWDS]$/.test(previous);
    previous = token;
    if (token === '[') inClass = true;
    if (token === ']') inClass = false;
    if (token === '-' && inClass && isAfterClassEscape && source[at + 1] !== ']') return '\\-';
    if (!token.startsWith('\\') || token === '\\') return token;
    const character = token.slice(1);
    return MUST_BE_ESCAPED.test(character) && character !== '_'
      ? token
      : inClass && character === '-'
        ? token
        : character;
  });
}
