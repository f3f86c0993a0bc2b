import ipaddr from 'ipaddr.js';

/**
 * Cloud services that can be reached only from machines inside the cloud, although their addresses look public: Azure's
 * metadata and IBM Cloud's internal networks.
 */
const CLOUD_INTERNAL = ['168.63.129.16/32', '161.26.0.0/16', '166.8.0.0/14'].map((text) => ipaddr.IPv4.parseCIDR(text));

/** Returns why connections to the address are refused, or undefined for a public internet address. */
export function forbiddenAddress(address: string): string | undefined {
  // `fe80::1%eth0` names an interface of this machine.
  if (address.includes('%') || !ipaddr.isValid(address)) return 'not a plain address';
  // `process` turns ::ffff:a.b.c.d into a.b.c.d.
  const ip = ipaddr.process(address);
  const range = ip.range();
  if (range !== 'unicast') return range;
  if (ip instanceof ipaddr.IPv4) return CLOUD_INTERNAL.some((internal) => ip.match(internal)) ? 'metadata' : undefined;
  // Only 2000::/3 is allocated for the internet. Without this check, ::7f00:1 (127.0.0.1) would count as unicast.
  return ((ip.parts[0] ?? 0) & 0xe000) === 0x2000 ? undefined : 'not global';
}
