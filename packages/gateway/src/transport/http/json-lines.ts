export const JSON_LINES = 'application/x-ndjson';

/**
 * A response with one item a line. The next page is read when the client has taken the one before, so that a long list is not held in
 * memory. If reading fails, the connection is cut: a client does not take a part for the whole.
 */
export function jsonLines(pages: AsyncGenerator<readonly unknown[]>): Response {
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const { done, value: items } = await pages.next();
          if (done === true) return controller.close();
          if (items.length === 0) continue;
          return controller.enqueue(
            new TextEncoder().encode(items.map((item) => `${JSON.stringify(item)}\n`).join('')),
          );
        }
      },
      async cancel() {
        await pages.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { 'content-type': JSON_LINES } });
}
