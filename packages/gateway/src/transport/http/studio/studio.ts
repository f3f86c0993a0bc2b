import { type StudioFile, StudioFiles } from './studio-files.ts';

/** The page of the studio and its files. */
export interface Studio {
  /** Undefined for what is no path of the studio: that stays a 404 of the API. */
  answer(request: Request): Promise<Response | undefined>;
}

/** Without a build there is nothing to serve, and `/` tells browsers how to get it. */
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

/** The studio finds its pages by the URL: all of them are the same file. */
function isPage(pathname: string): boolean {
  return /^\/(?:(?:spaces|runs|calls|agents|tools)(?:\/.*)?|inbox|settings|signin)$/.test(pathname);
}

/** Browsers say so when they open a page; programs that ask for anything get the API's 404. */
function wantsHtml({ headers }: Request): boolean {
  return /\btext\/html\b/i.test(headers.get('accept') ?? '');
}

type FixedHeaders = Readonly<Record<string, string>>;

/** The build puts a hash of the content into the names of what lies under /assets. */
const FOR_EVER: FixedHeaders = { 'cache-control': 'public, max-age=31536000, immutable' };
const CHECKED: FixedHeaders = { 'cache-control': 'no-cache' };

/**
 * Nothing of another origin, nothing inline, and no text that becomes HTML: what agents and people write is shown in this page.
 * `connect-src 'self'` holds for streams too.
 */
const PAGE_HEADERS: FixedHeaders = {
  ...CHECKED,
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  // With `no-referrer` some requests of the page would name no origin, and sessions count only with one.
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

/** Named, and not with weight 0. */
function accepts({ headers }: Request, encoding: string): boolean {
  const accepted = (headers.get('accept-encoding') ?? '').toLowerCase().split(',');
  return accepted.some((one) => {
    const [name, weight = 'q=1'] = one.split(';').map((part) => part.trim());
    return name === encoding && !/^q=0(\.0*)?$/.test(weight);
  });
}

/** Proxies that compress mark a tag as weak. */
function knows({ headers }: Request, etag: string): boolean {
  const known = (headers.get('if-none-match') ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  return known.includes(etag);
}

function notBuilt(): Response {
  return new Response(NOT_BUILT, { status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' } });
}

const NOT_BUILT = `This is a Lastcall gateway, and its studio (the web page) is not here.

In a checkout of the repository: npm run build -w packages/studio
In a folder of your own:         npm install @lastcall/studio

Then load this page again. The HTTP API works without it: GET /openapi.json describes it.
`;
