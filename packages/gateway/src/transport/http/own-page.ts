import { ApiError } from '../../domain/api-error.ts';

/**
 * Throws 403 unless a request comes from the gateway's own page, according to the browser. Pages on other ports of the host count
 * as the same site, so their requests carry the cookie despite SameSite: only their origin differs. A GET of the gateway's page
 * has no `Origin`; every request that writes has one.
 */
export function assertOwnPage(request: Request, publicUrl: string | undefined): void {
  const site = request.headers.get('sec-fetch-site');
  const origin = request.headers.get('origin');
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (site !== 'same-origin') throw crossOrigin(site === null ? NO_METADATA : OTHER_PAGE);
  if (origin === null ? !isRead : !isOwn(origin, request, publicUrl)) throw crossOrigin(OTHER_PAGE);
}

/** True if the browser reached the gateway over https, perhaps through a proxy. */
export function isSecure(request: Request): boolean {
  return (request.headers.get('origin') ?? request.url).startsWith('https:');
}

/** The scheme is not compared: behind a proxy with https the gateway itself receives http. */
function isOwn(origin: string, { url }: Request, publicUrl: string | undefined): boolean {
  if (!URL.canParse(origin)) return false;
  const asked = new URL(origin);
  if (publicUrl !== undefined && asked.origin === new URL(publicUrl).origin) return true;
  return asked.host === new URL(url).host;
}

const OTHER_PAGE = 'A session counts only in requests of the page that the gateway serves itself.';
const NO_METADATA = `${OTHER_PAGE} The browser did not send the origin of this request. Browsers send it over https and on loopback addresses.`;

function crossOrigin(message: string): ApiError {
  return new ApiError('cross_origin', message);
}
