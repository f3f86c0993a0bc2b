import type { TestGateway } from '@lastcall/gateway/testing';
import { build, type InlineConfig, type Plugin, preview } from 'vite';

export interface ServedPage {
  readonly url: string;
  stop(): Promise<void>;
}

interface PageOptions {
  /** The folder with index.html. */
  readonly root: string;
  readonly port: number;
  /** `origin`: that of the page, which the gateway must allow. */
  readonly start: (origin: string) => Promise<TestGateway>;
  /** What the page gets at /session. */
  readonly session: (gateway: TestGateway) => Promise<object>;
}

/** Builds the page of an example, serves it, and starts a gateway that the page may use from its own origin. */
export async function servePage({ root, port, start, session }: PageOptions): Promise<ServedPage> {
  let answer: () => Promise<object> = async () => ({});
  const options: InlineConfig = {
    root,
    configFile: false,
    logLevel: 'error',
    // Needed only inside this repository, where packages are not built.
    resolve: { conditions: ['@lastcall/source', 'browser', 'module', 'import', 'default'] },
    build: { target: 'es2023' },
    plugins: [sessionOf(() => answer())],
  };
  await build(options);
  const server = await preview({ ...options, preview: { port, host: '127.0.0.1' } });
  const url = server.resolvedUrls?.local[0] ?? '';
  const gateway = await start(new URL(url).origin);
  answer = () => session(gateway);
  return {
    url,
    async stop() {
      await server.close();
      await gateway.stop();
    },
  };
}

/** In your application, your own server serves `/session` for the person who is logged in there. The secret key stays on the server. */
function sessionOf(session: () => Promise<object>): Plugin {
  return {
    name: 'session',
    configurePreviewServer({ middlewares }) {
      middlewares.use('/session', (_request, response) => {
        void session().then((body) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body)));
      });
    },
  };
}

/** A token for the person with this external id. */
export async function tokenOf({ api }: TestGateway, externalId: string): Promise<string> {
  const [{ id }] = (await api(`/api/entities?externalId=${externalId}`)).items;
  return (await api(`/api/entities/${id}/token`, {})).token;
}
