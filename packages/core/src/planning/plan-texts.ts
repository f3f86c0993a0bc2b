/** The limit is in code points after trimming: the characters that a reader would count. */
const LONGEST = 500;

/** What is wrong with the texts by their fields, all of it, or undefined where they can be taken. */
export function problemWith(texts: Readonly<Record<string, string>>): string | undefined {
  const problems = Object.entries(texts).flatMap(([field, text]) => {
    const length = [...text.trim()].length;
    return length >= 1 && length <= LONGEST
      ? []
      : [`${field} must be 1–${LONGEST} characters after trimming, not ${length}.`];
  });
  return problems.length === 0 ? undefined : problems.join(' ');
}

/** `{ 'steps[0]': …, 'steps[1]': … }` */
export function byField(field: string, texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(texts.map((text, index) => [`${field}[${index}]`, text]));
}
