import type ipaddr from 'ipaddr.js';
import { type AddressRange, isInRange, parseAddress, parseAddressRange } from '../../config/address-range.ts';

/** The client's address under which a request is counted, as reported by trusted proxies. Empty if there is no socket. */
export type AddressOf = (request: Request, socketAddress: string | undefined) => string;

type Address = ipaddr.IPv4 | ipaddr.IPv6;

export function addressReader(trustedProxies: readonly string[]): AddressOf {
  const trusted = trustedProxies.map(parseAddressRange).filter((range) => range !== undefined);
  return (request, socketAddress = '') => {
    if (trusted.length === 0 && IPV4.test(socketAddress)) return socketAddress;
    const peer = parseAddress(withoutZone(socketAddress));
    return peer === undefined ? socketAddress : countedAs(clientOf(request.headers, peer, trusted));
  };
}

const IPV4 = /^[\d.]+$/;

/**
 * The headers of an untrusted proxy are ignored: anyone can send them. Most proxies set one of the two headers and pass the other
 * one on as the client sent it. If both are present and differ, neither is trusted, and the proxy's own address counts.
 */
function clientOf(headers: Headers, peer: Address, trusted: readonly AddressRange[]): Address {
  const lists = [forwardedFor(headers.get('x-forwarded-for')), forwarded(headers.get('forwarded'))];
  const found = lists.filter((list) => list.length > 0).map((list) => nearestUntrusted(list, peer, trusted));
  const [first = peer, second = first] = found;
  return first.toString() === second.toString() ? first : peer;
}

/**
 * Each proxy appends the address of its client on the right. Everything left of the first address that is not a proxy may be
 * invented.
 */
function nearestUntrusted(hops: readonly string[], peer: Address, trusted: readonly AddressRange[]): Address {
  let nearest = peer;
  for (const hop of hops.toReversed()) {
    if (!trusted.some((range) => isInRange(nearest, range))) return nearest;
    const next = parseAddress(withoutPort(hop));
    if (next === undefined) return nearest;
    nearest = next;
  }
  return nearest;
}

function forwardedFor(header: string | null): readonly string[] {
  return header === null ? [] : header.split(',').map((one) => one.trim());
}

/** `for=192.0.2.60;proto=http, for="[2001:db8::1]:4711"` (RFC 7239). */
function forwarded(header: string | null): readonly string[] {
  if (header === null) return [];
  return header.split(',').map((element) => /(?:^|;)\s*for\s*=\s*"?([^";]*)"?/i.exec(element)?.[1]?.trim() ?? '');
}

function withoutPort(hop: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
}

function withoutZone(address: string): string {
  return address.replace(/%.*$/, '');
}

/** A client with one IPv6 address usually has all addresses with the same first 64 bits. */
function countedAs(address: Address): string {
  if (address.kind() === 'ipv4') return address.toString();
  const [a, b, c, d] = (address as ipaddr.IPv6).parts;
  return `${[a, b, c, d].map((part) => part?.toString(16)).join(':')}::/64`;
}
