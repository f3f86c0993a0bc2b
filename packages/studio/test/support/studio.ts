import { demoConfig } from '@lastcall/gateway/internal';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '@lastcall/gateway/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { onPostgres } from '../../../gateway/test/support/stores.ts';
import { type Look, leavePages, takePage } from './pages.ts';

interface OpenOptions extends Partial<Look> {
  /** The display name of the person who signs in. Default: Ada. */
  readonly as?: string;
  /** Default: all. */
  readonly scopes?: readonly ('admin' | 'write' | 'read')[];
  /** Set it if the test adds scripts to the page, or measures what the browser loads. Default: false. */
  readonly isNew?: boolean;
}

/** A page of the studio, and its errors. */
interface StudioPage {
  readonly page: Page;
  /** Errors of the console, broken policies, exceptions. A test ends with `expect(problems).toEqual([])`. */
  readonly problems: string[];
}

/** A running gateway with the studio, and pages of it. */
export interface Studio extends AsyncDisposable {
  readonly gateway: TestGateway;
  open(path: string, options?: OpenOptions): Promise<StudioPage>;
  /** The id of a person, by the display name. */
  person(name: string): Promise<string | undefined>;
  /** A link that signs in once. */
  link(options?: Pick<OpenOptions, 'as' | 'scopes'>): Promise<string>;
}

type Kind = 'sqlite' | 'postgres';

/** For the tests of a file. */
function useStudio(browser: () => Browser, options?: TestGatewayOptions, kind?: Kind): () => Studio {
  let studio: Studio | undefined;
  beforeAll(async () => {
    studio = await startStudio(browser(), options, kind);
  });
  afterAll(async () => await studio?.[Symbol.asyncDispose]());
  return () => {
    if (studio === undefined) throw new Error('The studio is not there before the tests run.');
    return studio;
  };
}

/** One on each database, for tests that depend on the store. */
export function useStudios(browser: () => Browser, options?: TestGatewayOptions): Record<Kind, () => Studio> {
  return { sqlite: useStudio(browser, options), postgres: useStudio(browser, options, 'postgres') };
}

/** Without options: the demo that `npm start` shows. */
export async function startStudio(
  browser: Browser,
  options: TestGatewayOptions = demoConfig(),
  kind: Kind = 'sqlite',
): Promise<Studio> {
  const { gateway, removeDatabase } = await startOn(kind, options);
  const person: Studio['person'] = async (name) => {
    const { items } = await gateway.api('/api/entities?limit=100');
    return items.find(({ displayName }: { displayName: string }) => displayName === name)?.id;
  };
  const link: Studio['link'] = async ({ as = 'Ada', scopes = ['admin', 'write', 'read'] } = {}) => {
    const { url } = await gateway.api('/api/links', { entityId: await person(as), scopes });
    return url;
  };
  return {
    gateway,
    person,
    link,
    async open(path, { width = 1_200, height = 800, theme = 'light', isNew = false, ...who } = {}) {
      const page = await takePage(browser, { url: gateway.url, isNew }, { width, height, theme });
      const problems: string[] = [];
      page.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())));
      page.on('pageerror', (error) => void problems.push(error.message));
      const { hash } = new URL(await link(who));
      // Reloading the page before it is signed in would lose the code, which works once.
      const signedIn = page.waitForResponse(
        (response) => response.request().method() === 'POST' && response.url().endsWith('/api/session'),
      );
      await page.goto(gateway.url + path + hash);
      await signedIn;
      return { page, problems };
    },
    async [Symbol.asyncDispose]() {
      await leavePages(browser, gateway.url);
      await gateway.stop();
      freePorts.push(portOf(gateway));
      await removeDatabase();
    },
  };
}

/** A browser caches files by address, so the gateways of a worker use the same ports one after another. */
const freePorts: number[] = [];

const portOf = ({ url }: TestGateway): number => Number(new URL(url).port);

async function startOn(
  kind: Kind,
  options: TestGatewayOptions,
): Promise<{ gateway: TestGateway; removeDatabase: () => Promise<void> }> {
  if (kind === 'sqlite') return { gateway: await startAtFreePort(options), removeDatabase: async () => {} };
  const { location: databaseUrl, remove } = await onPostgres.create();
  return { gateway: await startAtFreePort({ ...options, databaseUrl }), removeDatabase: remove };
}

async function startAtFreePort(options: TestGatewayOptions): Promise<TestGateway> {
  const port = freePorts.pop() ?? 0;
  try {
    return await startTestGateway({ port, ...options });
  } catch (error) {
    // Another process may use the port now. If there was another reason, the next start fails too.
    if (port === 0) throw error;
    return await startTestGateway({ port: 0, ...options });
  }
}
