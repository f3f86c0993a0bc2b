import type { Page } from './wire.generated.ts';

/**
 * Reads a list that comes in pages, from its start.
 *
 *     await everyItem((page) => client.agents.list({ ...page, status: 'active' }))
 *
 * `most`: no further page is read after so many items. Default 10,000.
 */
export async function everyItem<T>(
  read: (page: { readonly limit: number; readonly cursor?: string }) => Promise<Page<T>>,
  { most = 10_000 }: { readonly most?: number } = {},
): Promise<readonly T[]> {
  const items: T[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await read({ limit: 200, ...(cursor === undefined ? {} : { cursor }) });
    items.push(...page.items);
    cursor = page.next;
    if (cursor === undefined || items.length >= most) return items;
  }
}
