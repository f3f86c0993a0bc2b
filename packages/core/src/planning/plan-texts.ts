/** The limit is in code points after trimming: the characters that a reader would count. */
const LONGEST = 500;

/** All problems with the texts, by field, or undefined if they are valid. */
export function problemWith(texts: Readonly<Record<string, string>>): string | undefined {
  const problems = Object.entries(texts).flatMap(([field, text]) => {
    const length = [...text.trim()].length;
    return length >= 1 && length <= LONGEST
      ? []
      : [`${field} must be 1–${LONGEST} characters after trimming, not ${length}.`];
  });
  return problems.length === 0 ? undefined : problems.join(' ');
}

/** For example `{ 'steps[0]': …, 'steps[1]': … }`. */
export function byField(field: string, texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(texts.map((text, index) => [`${field}[${index}]`, text]));
}
