import type { Transport } from '@modelcontextprotocol/client';

/** What the answers to `tools/list` had in them. */
export interface ListEntries {
  /** Forgets what was listed before, also answers that are still to come. */
  clear(): void;
  readonly all: readonly unknown[];
}

/**
 * Takes the tools out of the server's lists before the client sees them: it refuses a whole list for one malformed tool, and checks all of
 * them in one go. Call it before the client is connected.
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
    const result = message.result as { tools?: unknown };
    if (!Array.isArray(result.tools)) return;
    all = all.concat(result.tools);
    result.tools = [];
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
