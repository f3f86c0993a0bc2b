import ipaddr from 'ipaddr.js';
import { type AddressRange, isInRange } from './address-range.ts';

/** A rule of `egress.allow`: a name, an address or a range of addresses, on one port or on all ports. */
export interface EgressRule {
  readonly to: { readonly name: string } | { readonly range: AddressRange };
  /** Undefined opens all ports. */
  readonly port: number | undefined;
}

// An IPv6 address stands in brackets where a port may follow: `[fd00::]/8:443`, `[fd00::1]`.
const RULE = /^(?<host>\[[^\]]*\]|[^[\]/:]+)(?:\/(?<bits>\d{1,3}))?(?::(?<port>\d{1,5}))?$/;

/** Reads `host`, `host:port`, `10.1.2.0/24:8080` or `[fd00::]/8:443`. Returns undefined if the text is none of these. */
export function parseEgressRule(text: string): EgressRule | undefined {
  const { host = '', bits, port: portText } = RULE.exec(text)?.groups ?? {};
  const port = portText === undefined ? undefined : Number(portText);
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined;
  const address = host.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(address) && (host.startsWith('[') || ipaddr.IPv4.isValidFourPartDecimal(address))) {
    const ip = ipaddr.process(address);
    const length = bits === undefined ? widthOf(ip) : Number(bits);
    return length > widthOf(ip) ? undefined : { to: { range: [ip, length] }, port };
  }
  const name = bits === undefined && !host.startsWith('[') ? normalName(host) : undefined;
  return name === undefined ? undefined : { to: { name }, port };
}

/** True if one of the rules allows this name, or the address that it resolves to, on the port. */
export function isOpened(
  rules: readonly EgressRule[],
  { name, port, address }: { readonly name: string; readonly port: number; readonly address: string },
): boolean {
  const host = withoutDot(name.toLowerCase());
  return rules.some(
    (rule) =>
      (rule.port === undefined || rule.port === port) &&
      ('name' in rule.to
        ? rule.to.name === host
        : ipaddr.isValid(address) && isInRange(ipaddr.process(address), rule.to.range)),
  );
}

function widthOf(ip: ipaddr.IPv4 | ipaddr.IPv6): 32 | 128 {
  return ip.kind() === 'ipv4' ? 32 : 128;
}

/**
 * The name as a URL has it: lower case, international names in their ASCII form. Returns undefined for an address in another
 * form.
 */
function normalName(host: string): string | undefined {
  const parsed = URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`) : undefined;
  // Wildcards are refused: they would be read as plain names and match nothing.
  if (parsed === undefined || parsed.host !== parsed.hostname || host.includes('*')) return undefined;
  return ipaddr.isValid(parsed.hostname) || parsed.username !== '' ? undefined : withoutDot(parsed.hostname);
}

function withoutDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name;
}
