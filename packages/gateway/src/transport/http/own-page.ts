import { ApiError } from '../../domain/api-error.ts';

/**
 * Throws 403 unless a request comes from the gateway's own page, by the word of the browser. Pages on other ports of the host count
 * as the same site, so their requests bring the cookie, whatever its SameSite says: they differ by their origin alone.
 * A GET of the own page has no `Origin`; everything that writes has one.
 */
export function assertOwnPage(request: Request, publicUrl: string | undefined): void {
  const site = request.headers.get('sec-fetch-site');
  const origin = request.headers.get('origin');
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (site !== 'same-origin') throw crossOrigin(site === null ? NO_METADATA : OTHER_PAGE);
  if (origin === null ? !isRead : !isOwn(origin, request, publicUrl)) throw crossOrigin(OTHER_PAGE);
}

/** True if the browser reached the gateway by https, which a proxy may speak in its place. */
export function isSecure(request: Request): boolean {
  return (request.headers.get('origin') ?? request.url).startsWith('https:');
}

/** The scheme is not compared: behind a proxy that speaks https the gateway itself is asked by http. */
function isOwn(origin: string, { url }: Request, publicUrl: string | undefined): boolean {
  if (!URL.canParse(origin)) return false;
  const asked = new URL(origin);
  if (publicUrl !== undefined && asked.origin === new URL(publicUrl).origin) return true;
  return asked.host === new URL(url).host;
}

const OTHER_PAGE = 'A session counts only in requests of the page that the gateway serves itself.';
const NO_METADATA = `${OTHER_PAGE} The browser did not say where this one comes from: it says so on https and on loopback addresses.`;

function crossOrigin(message: string): ApiError {
  return new ApiError(403, 'cross_origin', message);
}
