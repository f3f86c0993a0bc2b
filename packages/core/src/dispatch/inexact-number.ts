/**
 * The first number in JSON text that cannot be read exactly: an integer with more digits than a number holds, as ids may have, or one that is
 * larger than any. Decimals, and numbers with an exponent, are approximations anyway.
 */
export function inexactNumber(text: string): string | undefined {
  for (const { number } of longNumbers(text)) if (!isExact(number)) return number;
  return undefined;
}

/** The numbers in JSON text, and where they are. None if all of them are short. */
export function* longNumbers(text: string): Generator<{ readonly at: number; readonly number: string }> {
  // Most texts need no closer look.
  if (!/\d{16}|\d[eE]/.test(text)) return;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') {
      at = endOfString(text, at);
      continue;
    }
    NUMBER.lastIndex = at;
    const number = NUMBER.exec(text)?.[0];
    if (number === undefined) continue;
    yield { at, number };
    at += number.length - 1;
  }
}

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function isExact(number: string): boolean {
  const value = Number(number);
  if (!Number.isFinite(value)) return false;
  return /[.eE]/.test(number) || BigInt(number) === BigInt(value);
}

/** The place of the quotation mark that ends the string, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at;
    while (text[before - 1] === '\\') before--;
    if ((at - before) % 2 === 0) return at;
  }
  return text.length;
}
