import { parseJson } from '@lastcall/core/internal';
import type { StreamNotice } from './bus.ts';

/** PostgreSQL refuses payloads of 8,000 bytes or more. */
const MAX_BYTES = 7_999;
const COMMA = 1;

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
    const { text, bytes } = toItem(notice, room - COMMA);
    // Even the reference does not fit. Readers will find the event when the next notice comes.
    if (bytes + COMMA > room) continue;
    if (used + bytes + COMMA > room) seal();
    items.push(text);
    used += bytes + COMMA;
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

/** Written by hand, because a busy gateway packs thousands of events a second, and their payloads are JSON already. */
function toItem({ stream, seq, event }: StreamNotice, room: number): { text: string; bytes: number } {
  const open = `{"stream":${JSON.stringify(stream)},"seq":${seq}`;
  if (event !== undefined) {
    const { type, at, revocations, json = JSON.stringify(event.payload ?? null) } = event;
    const text = `${open},"event":{"type":${JSON.stringify(type)},"at":${at},"revocations":${revocations},"payload":${json}}}`;
    const bytes = bytesOf(text);
    if (bytes <= room) return { text, bytes };
  }
  const reference = `${open}}`;
  return { text: reference, bytes: bytesOf(reference) };
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
