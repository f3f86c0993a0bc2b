import type { Readable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/client';
import { LONGEST_MESSAGE } from './limited-response.ts';

const NEWLINE = 0x0a;

/**
 * Reads what a server's process writes so that it cannot harm the rest of the gateway:
 *
 * - After each chunk the others get a turn. A process that never stops writing would otherwise block them for a third of a second at
 *   a time.
 * - A message that comes in many chunks is joined once, when its end has come. The client would join all that it has at each chunk:
 *   a message of 10 MB made 800 MB of copies.
 *
 * The transport offers no other access to the output.
 */
export function readInTurns(transport: Transport): void {
  const { _process: child } = transport as { _process?: { readonly stdout?: Readable | null } };
  const stdout = child?.stdout;
  if (stdout === undefined || stdout === null) return;
  const readers = stdout.listeners('data') as ((bytes: Buffer) => void)[];
  const join = joinedMessages((bytes) => {
    for (const read of readers) read.call(stdout, bytes);
  });
  stdout.on('data', (chunk: Buffer) => {
    stdout.pause();
    setImmediate(() => stdout.resume());
    join(chunk);
  });
  for (const read of readers) stdout.off('data', read);
}

/** Passes chunks on when a message ends, or when there are more bytes than a message may have: the client refuses those. */
export function joinedMessages(
  pass: (bytes: Buffer) => void,
  longest: number = LONGEST_MESSAGE,
): (chunk: Buffer) => void {
  let held: Buffer[] = [];
  let bytes = 0;
  return (chunk) => {
    held.push(chunk);
    bytes += chunk.length;
    if (bytes <= longest && !chunk.includes(NEWLINE)) return;
    const joined = held.length === 1 ? chunk : Buffer.concat(held, bytes);
    [held, bytes] = [[], 0];
    pass(joined);
  };
}
