import { randomFillSync } from 'node:crypto';

/**
 * Creates a UUID of version 7: random, but sorted by time, so that new rows are neighbours in an index. Ids of the same
 * millisecond are counted up, so that rows of one transaction are listed in the order of their creation.
 */
export function newId(now: number = Date.now()): string {
  const at = nextRandom();
  const bytes = random.subarray(at, at + BYTES);
  bytes.writeUIntBE(now, 0, 6);
  bytes.writeUInt16BE(0x7000 | nextCount(now, bytes.readUInt16BE(6)), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Sorts before every id that was made at this time or later, and after every id that was made before. */
export function firstIdAt(time: number): string {
  const hex = Math.max(0, Math.floor(time)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7000-8000-000000000000`;
}

/** The time when `newId` made this id. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

const BYTES = 16;
// Random bytes are fetched in bulk, because each request for them is slow, however few it asks for.
const random: Buffer = Buffer.alloc(BYTES * 256);
let used = random.length;

let countedMs = 0;
let count = 0;

/**
 * Begins at a random number in the lower half, so that there is room to count. If the counter overflows, it begins again: the ids
 * are random enough.
 */
function nextCount(now: number, drawn: number): number {
  count = now === countedMs ? (count + 1) & 0xfff : drawn & 0x7ff;
  countedMs = now;
  return count;
}

function nextRandom(): number {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  used += BYTES;
  return used - BYTES;
}
