// JSON.parse reads any depth; structuredClone, schema walks, providers, and in some engines JSON.stringify overflow the
// stack at some thousands of levels. Deeper arguments could be run but never stored or sent. Real arguments come
// nowhere near this.
const DEEPEST = 1_000;

/** Whether arguments that were read from `text` are nested too deep to be stored. */
export function isTooDeep(value: unknown, text: string): boolean {
  // Each level takes at least two characters, so most arguments need no walk.
  if (text.length < 2 * DEEPEST) return false;
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return true;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
}
