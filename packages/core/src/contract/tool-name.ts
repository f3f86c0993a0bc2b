const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** The problem with a tool's name, or undefined if there is none. These are the rules that all providers share. */
export function nameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string') return `must be a text, not ${typeof name}`;
  if (!NAME.test(name)) return 'must be 1–64 characters of A–Z, a–z, 0–9, "_" and "-"';
  // Objects put keys that look like numbers first, whatever order they were written in.
  if (/^\d+$/.test(name)) return 'must not be digits alone';
  // As a key it would set the prototype of the set instead of adding a tool.
  if (name === '__proto__') return 'must not be "__proto__"';
  return undefined;
}
