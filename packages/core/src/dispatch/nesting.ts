// JSON.parse reads any depth; structuredClone, the walks of schemas and providers, and in some engines JSON.stringify
// overflow the stack at some thousands: what is deeper than this could be run and never be stored or sent. No honest
// argument comes near.
const DEEPEST = 1_000;

/** Whether arguments that were read from `text` are nested deeper than anything could be stored. */
export function isTooDeep(value: unknown, text: string): boolean {
  // Each level takes two characters at least, so most arguments need no walk.
  if (text.length < 2 * DEEPEST) return false;
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return true;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
}
