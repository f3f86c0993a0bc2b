import type { Answer } from './page-answer.ts';
import { readAnswer } from './page-answer.ts';

export interface BrowserOptions {
  /** How requests are sent: over a socket, or to an app in memory. */
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** The address of the gateway. */
  readonly url: string;
  /** The origin of the page whose scripts send the requests. Default: that of the gateway. */
  readonly page?: string;
}

/** Sends requests as a page in a browser does: with the cookies of the host, and with headers about their origin. */
export class Browser {
  readonly #options: BrowserOptions;
  /** Browsers store cookies by host, without the port. */
  readonly cookies: Map<string, string>;

  constructor(options: BrowserOptions, cookies: Map<string, string> = new Map()) {
    this.#options = options;
    this.cookies = cookies;
  }

  /** The same browser, with another page. */
  at(page: string): Browser {
    return new Browser({ ...this.#options, page }, this.cookies);
  }

  async send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const { url, page = new URL(url).origin } = this.#options;
    const isSame = page === new URL(url).origin;
    const sent = {
      'sec-fetch-site': isSame ? 'same-origin' : isSameSite(page, url) ? 'same-site' : 'cross-site',
      ...(method === 'GET' && isSame ? {} : { origin: page }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(this.cookies.size > 0 && path.startsWith('/api') ? { cookie: this.#cookieHeader() } : {}),
      ...headers,
    };
    const response = await this.#options.fetch(
      new Request(`${url}${path}`, {
        method,
        headers: sent,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
    for (const cookie of response.headers.getSetCookie()) this.#store(cookie);
    return response;
  }

  async call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> {
    return await readAnswer(await this.send(method, path, body, headers));
  }

  #cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  #store(cookie: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
    if (/; max-age=0(;|$)/i.test(cookie)) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

/** The port is not part of a site. */
function isSameSite(one: string, other: string): boolean {
  return new URL(one).hostname === new URL(other).hostname;
}
