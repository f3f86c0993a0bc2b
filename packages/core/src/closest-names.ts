/** The names most similar to a wrong one, best first: at most three, and only those that a typo could explain. */
export function closestNames(wrong: string, names: readonly string[]): string[] {
  // A text longer than any tool name is not a typo, and the distance costs the product of the lengths.
  if (wrong.length > 128) return [];
  const asked = simplify(wrong);
  return names
    .map((name) => ({ name, distance: distanceTo(asked, simplify(name)) }))
    .filter(({ name, distance }) => distance <= Math.max(2, Math.floor(name.length / 2)))
    .sort((one, other) => one.distance - other.distance)
    .slice(0, 3)
    .map(({ name }) => name);
}

// Models mix up case and separators far more often than letters.
function simplify(name: string): string {
  return name.toLowerCase().replace(/[_\-.\s]/g, '');
}

function distanceTo(one: string, other: string): number {
  return one.includes(other) || other.includes(one)
    ? Math.min(1, Math.abs(one.length - other.length))
    : editDistance(one, other);
}

/** How many letters must be added, removed or changed to turn one into the other. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const changed = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next[j] = Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
