/**
 * A source that compiles with the `u` flag, which the interpreter always sets, or undefined. Patterns from Python or
 * from a JavaScript expression without the flag often have needless escapes (`\_`, `\-`), a bare hyphen beside a class
 * (`[\w-.]`) or bare braces (`^{\w+}$`): with the flag all are errors, so they are rewritten in the strict form.
 */
export function unicodePattern(source: string): string | undefined {
  if (compiles(source)) return source;
  const strict = FROM_ELSEWHERE.test(source) ? source : strictlyEscaped(source);
  return compiles(strict) ? strict : undefined;
}

/** `a{,5}` of Python and `[[:alpha:]]` of POSIX would become patterns that mean something else. */
const FROM_ELSEWHERE = /\{,\d+\}|\[:\w+:\]/;

function compiles(source: string): boolean {
  try {
    new RegExp(source, 'u');
    return true;
  } catch {
    return false;
  }
}

// A quantifier, an escape with braces, another escape, or one character.
const TOKEN = /\{\d[\d,]*\}|\\[pPu]\{[^}]*\}|\\?./gsu;
const MUST_BE_ESCAPED = /[\w^$\\.*+?()[\]{}|/]/;
const CLASS_ESCAPE = /^\\[wdsWDS]/;

function strictlyEscaped(source: string): string {
  let inClass = false;
  let previous = '';
  return source.replace(TOKEN, (token, at: number) => {
    const before = previous;
    previous = token;
    if (inClass && token === '-' && isBareHyphen(before, source.slice(at + 1))) return '\\-';
    if (!inClass && /^[{}\]]$/.test(token)) return `\\${token}`;
    if (token === '[') inClass = true;
    if (token === ']') inClass = false;
    if (!token.startsWith('\\') || token === '\\') return token;
    const character = token.slice(1);
    return MUST_BE_ESCAPED.test(character) && character !== '_'
      ? token
      : inClass && character === '-'
        ? token
        : character;
  });
}

/** A class such as `\w` cannot be the start or the end of a range. */
function isBareHyphen(before: string, after: string): boolean {
  return (CLASS_ESCAPE.test(before) && !after.startsWith(']')) || (before !== '[' && CLASS_ESCAPE.test(after));
}
