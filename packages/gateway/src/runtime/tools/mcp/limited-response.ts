import { setImmediate } from 'node:timers/promises';

/** A server's stream or process is closed if one message is longer than this: it would be useless, and would fill the memory. */
export const LONGEST_MESSAGE: number = 10 * 1_024 * 1_024;

/** The response, which ends if one message gets too long. A stream of many messages may go on for ever. */
export function limitedResponse(response: Response, longest: number = LONGEST_MESSAGE): Response {
  if (response.body === null) return response;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const limited = response.body.pipeThrough(isStream ? limitedEvents(longest) : limitedBytes(longest));
  const { status, statusText, headers } = response;
  return new Response(limited, { status, statusText, headers });
}

function limitedBytes(longest: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > longest) controller.error(tooLong(longest));
      else controller.enqueue(chunk);
    },
  });
}

/** Passes complete events on, without progress events that would not be shown. */
function limitedEvents(longest: number): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  // The last two characters are kept beside the rest. Reading them from the rest would copy all of it at each chunk.
  let [rest, lastTwo] = ['', ''];
  return new TransformStream({
    async transform(chunk, controller) {
      const text = decoder.decode(chunk, { stream: true });
      const end = endOfEvents(lastTwo, text);
      if (end === 0) {
        rest += text;
        lastTwo = (lastTwo + text.slice(-2)).slice(-2);
      } else {
        controller.enqueue(encoder.encode(thinProgress(rest + text.slice(0, end))));
        rest = text.slice(end);
        lastTwo = rest.slice(-2);
      }
      if (rest.length > longest) controller.error(tooLong(longest));
      // Yields, so that a server that never stops sending does not block the process.
      await setImmediate();
    },
    flush(controller) {
      controller.enqueue(encoder.encode(rest));
    },
  });
}

/** The index after the last blank line of a chunk, or 0. The blank line may have begun in the previous chunk. */
function endOfEvents(before: string, text: string): number {
  const joined = before + text;
  const plain = joined.lastIndexOf('\n\n');
  const windows = joined.lastIndexOf('\n\r\n');
  const end = Math.max(plain === -1 ? 0 : plain + 2, windows === -1 ? 0 : windows + 3);
  return Math.max(0, end - before.length);
}

function tooLong(longest: number): Error {
  return new Error(`A message has more than ${longest} bytes.`);
}

const PROGRESS = 'notifications/progress';

/** Of several progress messages for one call that arrived together, only the last one is kept. */
function thinProgress(events: string): string {
  if (!events.includes(PROGRESS)) return events;
  const blocks = events.split(/(?<=\n\r?\n)/);
  const tokens = blocks.map(progressToken);
  const last = new Map(tokens.map((token, index) => [token, index]));
  return blocks.filter((_block, index) => tokens[index] === undefined || last.get(tokens[index]) === index).join('');
}

/** The call whose progress an event reports. Undefined for every other event, whatever text it contains. */
function progressToken(block: string): string | undefined {
  if (!block.includes(PROGRESS)) return undefined;
  const data = block
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length));
  try {
    const { method, params } = JSON.parse(data.join('\n')) as {
      method?: unknown;
      params?: { progressToken?: unknown };
    };
    return method === PROGRESS ? JSON.stringify(params?.progressToken ?? null) : undefined;
  } catch {
    return undefined;
  }
}
