import type { Transport } from '@modelcontextprotocol/client';

/** How many entries of a list are read and checked. */
export const MOST_ENTRIES: number = 2_000;

/** The entries of the answers to `tools/list`. */
export interface ListEntries {
  /** Forgets earlier entries, including those of answers that are still on the way. */
  clear(): void;
  readonly all: readonly unknown[];
}

/**
 * Takes the tools out of the server's lists before the client sees them: the client refuses a whole list because of one
 * malformed tool, and checks all of them in one go. No further page is requested after `MOST_ENTRIES`. Call it before the client is
 * connected.
 */
export function takeListEntries(transport: Transport): ListEntries {
  let all: readonly unknown[] = [];
  const asked = new Set<unknown>();
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    if ('method' in message && message.method === 'tools/list' && 'id' in message) asked.add(message.id);
    await send(message, options);
  };
  transport.onmessage = (message) => {
    if (!('result' in message) || !asked.delete(message.id)) return;
    const result = message.result as { tools?: unknown; nextCursor?: unknown };
    if (!Array.isArray(result.tools)) return;
    all = all.concat(result.tools);
    result.tools = [];
    if (all.length >= MOST_ENTRIES) delete result.nextCursor;
  };
  return {
    clear() {
      all = [];
      asked.clear();
    },
    get all() {
      return all;
    },
  };
}
