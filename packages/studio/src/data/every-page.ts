interface Page<T> {
  readonly items: readonly T[];
  readonly next?: string | undefined;
}

/** Lists that users choose from are read whole, up to this many entries: no one reads more. */
const MOST = 1_000;

export async function everyPage<T>(
  read: (page: { limit: number; cursor?: string }) => Promise<Page<T>>,
): Promise<readonly T[]> {
  const first = await read({ limit: 100 });
  const items = [...first.items];
  for (let { next } = first; next !== undefined && items.length < MOST; ) {
    const page = await read({ limit: 100, cursor: next });
    items.push(...page.items);
    next = page.next;
  }
  return items;
}
