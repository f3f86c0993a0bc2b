import { setImmediate } from 'node:timers/promises';

/** More than this in one message of a server ends its stream: nobody could use it, and it would fill the memory. */
const LONGEST_MESSAGE_BYTES = 10 * 1_024 * 1_024;

const TURN_MS = 10;

/** The response, with an end where one message of it gets too long. A stream of many messages may go on for ever. */
export function limitedResponse(response: Response, longest: number = LONGEST_MESSAGE_BYTES): Response {
  if (response.body === null) return response;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  let bytes = 0;
  let turnAt = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, controller) {
      // A server that never stops sending must not keep the process from everything else.
      if (performance.now() - turnAt > TURN_MS) {
        await setImmediate();
        turnAt = performance.now();
      }
      const end = isStream ? lastBlankLine(chunk) : -1;
      bytes = end === -1 ? bytes + chunk.length : chunk.length - end;
      if (bytes > longest) controller.error(new Error(`A message has more than ${longest} bytes.`));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counted), { status, statusText, headers });
}

/** A blank line ends a message of a stream. One that is split between two chunks is missed, and the next one counts. */
function lastBlankLine(chunk: Uint8Array): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return Math.max(bytes.lastIndexOf('\n\n'), bytes.lastIndexOf('\n\r\n'));
}
