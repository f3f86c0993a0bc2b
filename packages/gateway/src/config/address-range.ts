import ipaddr from 'ipaddr.js';

/** An address and how many of its first bits count: all of them for a single address. */
export type AddressRange = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Reads `10.1.2.3`, `10.1.2.0/24`, `fd00::1` or `fd00::/8`. Undefined if the text is none of these. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [address = '', bits, ...more] = text.split('/');
  const ip = parseAddress(address);
  if (ip === undefined || more.length > 0) return undefined;
  const width = ip.kind() === 'ipv4' ? 32 : 128;
  if (bits === undefined) return [ip, width];
  return /^\d{1,3}$/.test(bits) && Number(bits) <= width ? [ip, Number(bits)] : undefined;
}

/** An address in its usual notation. IPv4 inside IPv6 is IPv4, as a socket that listens to both reports it. */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const isUsual = ipaddr.IPv4.isValidFourPartDecimal(text) || (text.includes(':') && ipaddr.IPv6.isValid(text));
  return isUsual ? ipaddr.process(text) : undefined;
}

export function isInRange(ip: ipaddr.IPv4 | ipaddr.IPv6, [start, bits]: AddressRange): boolean {
  return ip.kind() === start.kind() && ip.match([start, bits] as [typeof ip, number]);
}
