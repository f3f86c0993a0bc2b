/** Something that can be opened or done from the palette. */
export interface PaletteItem {
  readonly id: string;
  readonly kind: 'Page' | 'Space' | 'Agent' | 'Tool' | 'Run' | 'Call' | 'Command' | 'Search';
  readonly text: string;
  /** Also searched, and shown beside the text. */
  readonly detail?: string | undefined;
  readonly run: () => void;
}

/** Users do not look through more than this: another letter finds it faster. */
const MOST = 50;

/**
 * Items that contain every word of the query; those whose text starts with it come first. Otherwise the order is kept.
 */
export function findItems(items: readonly PaletteItem[], query: string): readonly PaletteItem[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = items
    .map((item) => ({ item, rank: rankOf(item, words) }))
    .filter(({ rank }) => rank !== undefined)
    .toSorted((a, b) => (a.rank ?? 0) - (b.rank ?? 0));
  return found.slice(0, MOST).map(({ item }) => item);
}

function rankOf({ text, detail = '', kind }: PaletteItem, words: readonly string[]): number | undefined {
  const [name, all] = [text.toLowerCase(), `${kind} ${text} ${detail}`.toLowerCase()];
  if (!words.every((word) => all.includes(word))) return undefined;
  const [first = ''] = words;
  if (name.startsWith(first)) return 0;
  return name.split(/[\s_-]+/).some((part) => part.startsWith(first)) ? 1 : 2;
}

/** True if the text may be a complete id of a run or a call. */
export function looksLikeId(query: string): boolean {
  return /^[\w-]{12,100}$/.test(query.trim()) && /\d/.test(query);
}
