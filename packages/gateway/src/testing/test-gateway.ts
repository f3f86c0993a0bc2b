import { rm } from 'node:fs/promises';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { createGateway, type GatewayOptions } from '../gateway.ts';
import { createTestHome } from './test-home.ts';

/** The options of `createGateway`. Options that are left out have defaults that suit a test. */
export interface TestGatewayOptions extends Omit<GatewayOptions, 'model'> {
  /** The model of agents that name none: a name, or a model such as `scriptedModel([…])`. Default `rehearsal`. */
  readonly model?: string | LanguageModelV4 | undefined;
}

export interface ApiRequest {
  /** Default: `POST` with a body, otherwise `GET`. */
  readonly method?: string | undefined;
  /** A secret key or a token. Default: the gateway's own secret key. */
  readonly key?: string | undefined;
}

/** A running gateway for one test. */
export interface TestGateway extends AsyncDisposable {
  readonly url: string;
  /** The folder of its database. */
  readonly home: string;
  readonly secretKey: string;
  /** Sends a request with the secret key and returns the JSON of the response, also if it is an error. */
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on the fields it reads; `unknown` would need a cast each.
  api(path: string, body?: object, request?: ApiRequest): Promise<any>;
  /** Like `api`, but returns the whole response: for statuses, headers and streams. */
  request(path: string, body?: object, request?: ApiRequest): Promise<Response>;
  /** Stops the gateway and removes its temporary folder. */
  stop(): Promise<void>;
}

const TEST_KEY = 'a-secret-key-for-tests';
const TEST_MODEL = 'test-model';

/** Starts a gateway on a free port and a temporary folder. It reads nothing from the environment and logs nothing. */
export async function startTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const { model = 'rehearsal', secretKey = TEST_KEY, ...others } = options;
  const { home, removeHome } = await homeOf(options.home);
  try {
    const gateway = createGateway({
      port: 0,
      env: {},
      logLevel: 'silent',
      // Tests do not have to survive a power cut.
      synchronous: 'NORMAL',
      ...others,
      ...modelOf(model, others.models),
      home,
      secretKey,
    });
    await gateway.start();
    const stop = async (): Promise<void> => {
      await gateway.stop();
      await removeHome();
    };
    return { home, secretKey, ...clientOf(gateway.url, secretKey), stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await removeHome();
    throw error;
  }
}

/** A folder that the caller passes is not removed: a second gateway may continue where the first stopped. */
async function homeOf(own: string | undefined): Promise<{ home: string; removeHome: () => Promise<void> }> {
  if (own !== undefined) return { home: own, removeHome: async () => {} };
  const home = await createTestHome();
  return { home, removeHome: () => rm(home, { recursive: true, force: true }) };
}

function modelOf(
  model: string | LanguageModelV4,
  models: GatewayOptions['models'],
): Pick<GatewayOptions, 'model' | 'models'> {
  if (typeof model === 'string') return { model, models };
  return { model: TEST_MODEL, models: { ...models, [TEST_MODEL]: model } };
}

function clientOf(url: string, secretKey: string): Pick<TestGateway, 'url' | 'api' | 'request'> {
  const request: TestGateway['request'] = async (path, body, { method, key = secretKey } = {}) =>
    await fetch(url + path, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
  return { url, request, api: async (...given) => await (await request(...given)).json() };
}
