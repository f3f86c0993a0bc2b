import { isSecure } from './own-page.ts';

/**
 * The secret of a session in a request, if it has exactly one. Browsers send cookies of all ports of a host, so the name contains
 * the port and two gateways on one machine do not interfere. If there are two cookies with the same name, another page has set
 * one, and they cannot be told apart.
 */
export function cookieSecret(request: Request): string | undefined {
  const prefix = `${cookieName(request)}=`;
  const cookies = (request.headers.get('cookie') ?? '').split(';').map((one) => one.trim());
  const own = cookies.filter((one) => one.startsWith(prefix));
  return own.length === 1 ? own[0]?.slice(prefix.length) : undefined;
}

/** The value of `Set-Cookie` that signs the browser in. Scripts cannot read it, and no other site sends it. */
export function sessionCookie(request: Request, secret: string, expiresAt: number): string {
  const seconds = Math.max(0, Math.floor((expiresAt - Date.now()) / 1_000));
  return cookie(request, secret, seconds);
}

export function clearedCookie(request: Request): string {
  return cookie(request, '', 0);
}

function cookie(request: Request, value: string, seconds: number): string {
  const parts = [`${cookieName(request)}=${value}`, 'Path=/api', `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Strict'];
  return [...parts, ...(isSecure(request) ? ['Secure'] : [])].join('; ');
}

function cookieName({ url }: Request): string {
  const { port, protocol } = new URL(url);
  return `lastcall_${port === '' ? (protocol === 'https:' ? '443' : '80') : port}`;
}
