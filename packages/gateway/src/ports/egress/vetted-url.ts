import { EgressRefused } from './egress-refused.ts';

/** Returns the URL, or throws if it is not http or https or contains credentials. */
export function vettedUrl(text: string | URL, base?: URL): URL {
  if (!URL.canParse(String(text), base?.href)) throw new EgressRefused('', 'it is not a valid URL');
  const url = new URL(String(text), base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new EgressRefused(url.host, `its scheme is "${url.protocol.slice(0, 20)}", not http or https`);
  if (url.username !== '' || url.password !== '') throw new EgressRefused(url.host, 'its URL has credentials');
  return url;
}
