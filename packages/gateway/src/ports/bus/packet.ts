import { parseJson } from '@lastcall/core/internal';
import { withJsonField } from '../store/schema/json.ts';
import type { StreamNotice } from './bus.ts';

/** PostgreSQL refuses payloads of 8,000 bytes or more. */
const MAX_BYTES = 7_999;

/**
 * Packs notices into as few NOTIFY payloads as possible. An event that is too large for a payload is sent as a
 * reference. No packet has a line break in it.
 */
export function packNotices(from: string, notices: readonly StreamNotice[]): string[] {
  const packets: string[] = [];
  const open = `${openingOf(from)}"notices":[`;
  const close = ']}';
  const room = MAX_BYTES - bytesOf(open) - bytesOf(close);
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
    // Even the reference does not fit. Readers will find the event when the next notice comes.
    if (size > room) continue;
    if (used + size > room) seal();
    items.push(item);
    used += size;
  }
  seal();
  return packets;
}

/** A packet without notices. Other gateways ignore it. */
export const emptyPacket = (from: string): string => `${openingOf(from)}"notices":[]}`;

/**
 * True for a packet that this gateway sent. It is not parsed for this check: every gateway receives its own packets
 * too, and a single gateway receives no others.
 */
export function isPacketOf(from: string, packet: string): boolean {
  return packet.startsWith(openingOf(from));
}

const openingOf = (from: string): string => `{"from":${JSON.stringify(from)},`;

function toItem(notice: StreamNotice, room: number): string {
  const { stream, seq } = notice;
  const reference = JSON.stringify({ stream, seq });
  if (notice.event === undefined) return reference;
  const { type, at, revocations, json = JSON.stringify(notice.event.payload ?? null) } = notice.event;
  const event = withJsonField(JSON.stringify({ type, at, revocations }), 'payload', json);
  const complete = withJsonField(reference, 'event', event);
  return bytesOf(complete) < room ? complete : reference;
}

interface Packet {
  readonly from: string;
  readonly notices: readonly StreamNotice[];
}

/** Returns undefined for a payload that `packNotices` did not make: any client of the database can send one. */
export function unpackNotices(packet: string): Packet | undefined {
  const parsed = parse(packet);
  if (typeof parsed?.from !== 'string' || !Array.isArray(parsed.notices)) return undefined;
  return { from: parsed.from, notices: parsed.notices.filter(isNotice).map(withFullEvent) };
}

function parse(packet: string): Partial<Packet> | undefined {
  try {
    const value: unknown = parseJson(packet);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function isNotice(value: unknown): value is StreamNotice {
  const { stream, seq, event } = (value ?? {}) as { stream?: unknown; seq?: unknown; event?: unknown };
  return typeof stream === 'string' && typeof seq === 'number' && (event === undefined || typeof event === 'object');
}

function withFullEvent({ stream, seq, event }: StreamNotice): StreamNotice {
  return event === undefined || event === null ? { stream, seq } : { stream, seq, event: { ...event, stream, seq } };
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}
