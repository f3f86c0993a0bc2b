/** The keys to leave out, by the path that leads to them; `true` for a key that is removed. */
interface Cut extends Map<PropertyKey, Cut | true> {}

/** A copy without the keys at these paths. Parts that no path touches are shared with the original. */
export function stripKeys(value: unknown, paths: readonly (readonly PropertyKey[])[]): unknown {
  return paths.length === 0 ? value : applyCut(value, cutOf(paths));
}

function cutOf(paths: readonly (readonly PropertyKey[])[]): Cut {
  const root: Cut = new Map();
  for (const path of paths) {
    let cut = root;
    for (const key of path.slice(0, -1)) {
      const next = cut.get(key);
      const below: Cut = next instanceof Map ? next : new Map();
      if (next !== true) cut.set(key, below);
      cut = below;
    }
    const last = path.at(-1);
    if (last !== undefined) cut.set(last, true);
  }
  return root;
}

function applyCut(value: unknown, cut: Cut): unknown {
  if (Array.isArray(value)) return value.map((item, index) => applyAt(item, cut.get(index)));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => cut.get(key) !== true);
  return Object.fromEntries(kept.map(([key, one]) => [key, applyAt(one, cut.get(key))]));
}

function applyAt(value: unknown, cut: Cut | true | undefined): unknown {
  return cut instanceof Map ? applyCut(value, cut) : value;
}
