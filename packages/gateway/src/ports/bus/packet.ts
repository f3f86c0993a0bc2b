import type { StreamNotice } from './bus.ts';

/** PostgreSQL refuses a payload of 8,000 bytes. */
const MOST_BYTES = 7_999;

/** Notices as payloads of NOTIFY, as few as there must be. What is too large for one goes by reference. */
export function packNotices(from: string, notices: readonly StreamNotice[]): string[] {
  const packets: string[] = [];
  const open = `{"from":${JSON.stringify(from)},"notices":[`;
  const close = ']}';
  const room = MOST_BYTES - bytesOf(open) - bytesOf(close);
  let items: string[] = [];
  let used = 0;
  const seal = (): void => {
    if (items.length > 0) packets.push(`${open}${items.join()}${close}`);
    items = [];
    used = 0;
  };
  for (const notice of notices) {
    const item = toItem(notice, room);
    const size = bytesOf(item) + 1;
    // Not even a reference fits: its readers look when the next notice comes.
    if (size > room) continue;
    if (used + size > room) seal();
    items.push(item);
    used += size;
  }
  seal();
  return packets;
}

function toItem(notice: StreamNotice, room: number): string {
  const { channel, seq } = notice;
  const reference = JSON.stringify({ channel, seq });
  if (notice.event === undefined) return reference;
  const { type, payload, at, revocations } = notice.event;
  const whole = JSON.stringify({ channel, seq, event: { type, payload: payload ?? null, at, revocations } });
  return bytesOf(whole) < room ? whole : reference;
}

interface Packet {
  readonly from: string;
  readonly notices: readonly StreamNotice[];
}

/** Undefined for what `packNotices` did not make: whoever has the database may notify. */
export function unpackNotices(packet: string): Packet | undefined {
  const parsed = parse(packet);
  if (typeof parsed?.from !== 'string' || !Array.isArray(parsed.notices)) return undefined;
  return { from: parsed.from, notices: parsed.notices.filter(isNotice).map(withWholeEvent) };
}

function parse(packet: string): Partial<Packet> | undefined {
  try {
    const value: unknown = JSON.parse(packet);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function isNotice(value: unknown): value is StreamNotice {
  const { channel, seq, event } = (value ?? {}) as { channel?: unknown; seq?: unknown; event?: unknown };
  return typeof channel === 'string' && typeof seq === 'number' && (event === undefined || typeof event === 'object');
}

function withWholeEvent({ channel, seq, event }: StreamNotice): StreamNotice {
  return event === undefined || event === null ? { channel, seq } : { channel, seq, event: { ...event, channel, seq } };
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}
