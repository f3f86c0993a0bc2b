import type { Reply } from './cassette.ts';

type Parts = NonNullable<Reply['stream']>;

/**
 * Joins the deltas of a text in which something has to be hidden: a secret or an id may be split over several of them, and then no delta
 * shows it, but the file has all of it. The first delta gets the whole text, and the others are left out.
 */
export function joinHidden(parts: Parts, hide: (text: string) => string): Parts {
  const texts = new Map<string, string>();
  for (const [, part] of parts) {
    const delta = deltaOf(part);
    if (delta !== undefined) texts.set(delta.key, (texts.get(delta.key) ?? '') + delta.text);
  }
  const joined = new Map([...texts].filter(([, text]) => hide(text) !== text));
  if (joined.size === 0) return parts;
  const begun = new Set<string>();
  return parts.flatMap(([ms, part]) => {
    const delta = deltaOf(part);
    const text = delta && joined.get(delta.key);
    if (delta === undefined || text === undefined) return [[ms, part] as const];
    if (begun.has(delta.key)) return [];
    begun.add(delta.key);
    return [[ms, { ...part, delta: text } as typeof part] as const];
  });
}

function deltaOf(part: Parts[number][1]): { readonly key: string; readonly text: string } | undefined {
  const { type, id, delta } = part as { readonly type: string; readonly id?: unknown; readonly delta?: unknown };
  return typeof delta === 'string' ? { key: JSON.stringify([type, id]), text: delta } : undefined;
}
