import type { Page } from '../../domain/entities/page.ts';

export const JSON_LINES = 'application/x-ndjson';

/**
 * A response with one item a line. The next page is read when the client has taken the one before, so that a long list is not held in
 * memory. If reading fails, the connection is cut: a client does not take a part for the whole.
 */
export function jsonLines<T>(first: Page<T>, readNext: (cursor: string) => Promise<Page<T>>): Response {
  let page: Page<T> | undefined = first;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { items, next }: Page<T> = page ?? { items: [] };
        if (items.length > 0)
          controller.enqueue(new TextEncoder().encode(items.map((item) => `${JSON.stringify(item)}\n`).join('')));
        if (next === undefined) controller.close();
        else page = await readNext(next);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { 'content-type': JSON_LINES } });
}
