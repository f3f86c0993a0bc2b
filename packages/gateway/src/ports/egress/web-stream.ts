import type { Readable } from 'node:stream';

/**
 * The body as a web stream. It returns all bytes that have arrived as one chunk: reading 200,000 small chunks would
 * cost more than processing the data.
 */
export function webStream(body: Readable): ReadableStream<Uint8Array> {
  let wake: () => void = () => {};
  let failure: unknown;
  return new ReadableStream<Uint8Array>(
    {
      start() {
        body.on('readable', () => wake());
        body.on('end', () => wake());
        body.on('close', () => wake());
        body.on('error', (error) => {
          failure = error;
          wake();
        });
      },
      async pull(controller) {
        for (;;) {
          const bytes = body.read() as Uint8Array | null;
          if (bytes !== null) return controller.enqueue(bytes);
          if (failure !== undefined) return controller.error(failure);
          if (body.readableEnded) return controller.close();
          if (body.closed)
            return controller.error(new Error('The connection was closed before the end of the response.'));
          const { promise, resolve } = Promise.withResolvers<void>();
          wake = resolve;
          await promise;
        }
      },
      cancel() {
        body.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
