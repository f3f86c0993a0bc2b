import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, type TestGateway } from '@lastcall/gateway/testing';
import { build, type InlineConfig, type Plugin, preview } from 'vite';

export interface OwnCardExample {
  readonly url: string;
  stop(): Promise<void>;
}

/** Builds the page, serves it, and starts a gateway that the page may use from its own origin. */
export async function startOwnCard({ port = 4174 }: { port?: number } = {}): Promise<OwnCardExample> {
  let session: () => Promise<object> = async () => ({});
  const options: InlineConfig = {
    root: import.meta.dirname,
    configFile: false,
    logLevel: 'error',
    // Needed only inside this repository, where packages are not built.
    resolve: { conditions: ['@lastcall/source', 'browser', 'module', 'import', 'default'] },
    build: { target: 'es2023' },
    plugins: [sessionOf(() => session())],
  };
  await build(options);
  const server = await preview({ ...options, preview: { port, host: '127.0.0.1' } });
  const url = server.resolvedUrls?.local[0] ?? '';
  const gateway = await startStation(new URL(url).origin);
  session = () => sessionAt(gateway);
  return {
    url,
    async stop() {
      await server.close();
      await gateway.stop();
    },
  };
}

/** The tool names its component: `display.customUI`. The model is scripted, so that the example needs no key. */
async function startStation(origin: string): Promise<TestGateway> {
  const seats = ['1A', '1B', '1C', '2A', '2B', '2C'];
  const list = { type: 'array', items: { type: 'string' } };
  return await startTestGateway({
    model: scriptedModel([
      { toolName: 'choose_seats', input: { train: 'IC 708', seats, taken: ['1B'] } },
      // Nothing to say until the choice is made.
      '',
      'They are yours. Have a good trip!',
    ]),
    agents: [{ name: 'Clerk', instructions: 'You sell seats.', tools: ['choose_seats'] }],
    tools: {
      choose_seats: {
        executionType: 'space',
        description: 'Asks which seats to take.',
        display: { customUI: 'seatMap' },
        inputSchema: {
          type: 'object',
          properties: { train: { type: 'string' }, seats: list, taken: list },
          required: ['train', 'seats', 'taken'],
        },
        resultSchema: {
          type: 'object',
          properties: { seats: { type: 'array', items: { enum: seats }, minItems: 1 } },
          required: ['seats'],
        },
      },
    },
    spaces: [{ name: 'Station', agents: ['Clerk'], people: [{ name: 'Ada', externalId: 'ada' }] }],
    corsOrigins: [origin],
  });
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

async function sessionAt({ url, api }: TestGateway): Promise<object> {
  const [{ id: spaceId }] = (await api('/api/spaces')).items;
  const [{ id: adaId }] = (await api('/api/entities?externalId=ada')).items;
  const { token } = await api(`/api/entities/${adaId}/token`, {});
  return { url, spaceId, token };
}
