import { type StudioFile, StudioFiles } from './studio-files.ts';

/** The page of the studio and its files. */
export interface Studio {
  /** Undefined for other paths, for which the API responds with 404. */
  answer(request: Request): Promise<Response | undefined>;
}

/** Without a build, `/` tells browsers how to get one. */
export function createStudio(directory: string | undefined): Studio {
  const files = directory === undefined ? undefined : new StudioFiles(directory);
  return {
    async answer(request) {
      if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
      const { pathname } = new URL(request.url);
      if (pathname === '/' || (isPage(pathname) && wantsHtml(request))) {
        const page = await files?.page();
        if (page !== undefined) return fileAnswer(request, page, PAGE_HEADERS);
        return wantsHtml(request) ? notBuilt() : undefined;
      }
      const file = await files?.file(pathname);
      return file && fileAnswer(request, file, pathname.startsWith('/assets/') ? FOR_EVER : CHECKED);
    },
  };
}

/** The studio routes by the URL: all pages are the same file. */
function isPage(pathname: string): boolean {
  return /^\/(?:(?:spaces|runs|calls|agents|tools|evaluations)(?:\/.*)?|(?:inbox|search|usage|settings|signin|card)\/?)$/.test(
    pathname,
  );
}

/** Browsers accept HTML when they open a page. Programs that accept anything get the API's 404. */
function wantsHtml({ headers }: Request): boolean {
  return /\btext\/html\b/i.test(headers.get('accept') ?? '');
}

type FixedHeaders = Readonly<Record<string, string>>;

/** The build puts a content hash into the names of the files under /assets. */
const FOR_EVER: FixedHeaders = { 'cache-control': 'public, max-age=31536000, immutable' };
const CHECKED: FixedHeaders = { 'cache-control': 'no-cache' };

/**
 * The page loads nothing from other origins, nothing inline, and never turns text into HTML, because it shows what agents and
 * people write. `connect-src 'self'` covers streams too.
 */
const PAGE_HEADERS: FixedHeaders = {
  ...CHECKED,
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  // With `no-referrer` some requests of the page would have no origin, and sessions need one.
  'referrer-policy': 'same-origin',
};

function fileAnswer(request: Request, file: StudioFile, fixed: FixedHeaders): Response {
  const encoding = (['br', 'gzip'] as const).find((one) => file[one] !== undefined && accepts(request, one));
  const etag = `"${file.etag}${encoding === undefined ? '' : `-${encoding}`}"`;
  const headers = { ...fixed, etag, vary: 'accept-encoding' };
  if (knows(request, etag)) return new Response(null, { status: 304, headers });
  return new Response(file[encoding ?? 'plain'], {
    headers: {
      ...headers,
      'content-type': file.type,
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    },
  });
}

/** True if the encoding is listed with a weight other than 0. */
function accepts({ headers }: Request, encoding: string): boolean {
  const accepted = (headers.get('accept-encoding') ?? '').toLowerCase().split(',');
  return accepted.some((one) => {
    const [name, weight = 'q=1'] = one.split(';').map((part) => part.trim());
    return name === encoding && !/^q=0(\.0*)?$/.test(weight);
  });
}

/** The comparison ignores the weak mark, which proxies that compress add to a tag. */
function knows({ headers }: Request, etag: string): boolean {
  const known = (headers.get('if-none-match') ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  return known.includes(etag);
}

function notBuilt(): Response {
  return new Response(NOT_BUILT, { status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' } });
}

const NOT_BUILT = `This is a Lastcall gateway. Its studio (the web page) is not installed.

In a checkout of the repository: npm run build -w packages/studio
In your own project:             npm install @lastcall/studio

Then reload this page. The HTTP API works without it: GET /openapi.json describes it.
`;
