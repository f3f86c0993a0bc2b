import OpenAI, { type ClientOptions } from 'openai';
import { afterEach } from 'vitest';
import { createKey } from '../../src/domain/keys/api-key.ts';
import type { Scope } from '../../src/domain/keys/scope.ts';
import { signToken, tokenSecret } from '../../src/domain/keys/tokens.ts';
import { createApp } from '../../src/transport/http/app.ts';
import { listen } from '../../src/transport/http/server.ts';
import { describeWorlds, type OpenWorld } from '../support/describe-worlds.ts';
import type { databases } from '../support/stores.ts';
import type { World } from '../support/world.ts';

/** A gateway on a real port, and real clients of OpenAI that use it. */
export interface OpenAiGateway {
  readonly world: World;
  readonly url: string;
  /** With a key that may write. */
  readonly client: OpenAI;
  clientWith(options: ClientOptions): OpenAI;
  keyWith(...scopes: Scope[]): Promise<string>;
  tokenOf(entityId: string): Promise<string>;
  /** Stops the HTTP server, as in a gateway that stops. */
  stop(): void;
}

export type OpenGateway = (options: Parameters<OpenWorld>[0]) => Promise<OpenAiGateway>;

/** The tests on every database. */
export function describeOpenAi(title: string, tests: (open: OpenGateway) => void, on?: typeof databases): void {
  const ofWorlds = (openWorld: OpenWorld): void => {
    const closing: (() => Promise<void>)[] = [];
    afterEach(async () => {
      for (const close of closing.splice(0)) await close();
    });
    tests(async (options) => {
      const world = await openWorld(options);
      const secret = await tokenSecret(world.store);
      const app = createApp(world.services, { tokenSecret: secret, registry: world.registry });
      const server = await listen(app, { port: 0, logger: world.services.logger });
      closing.push(async () => {
        app.stop();
        await server.close({ graceMs: 1_000 });
      });
      const keyWith = (...scopes: Scope[]): Promise<string> =>
        world.in(async (tx) => (await createKey(tx, { name: 'test', scopes })).key);
      const apiKey = await keyWith('read', 'write');
      const clientWith = (more: ClientOptions): OpenAI => new OpenAI({ apiKey, baseURL: `${server.url}/v1`, ...more });
      return {
        world,
        url: server.url,
        client: clientWith({}),
        clientWith,
        keyWith,
        tokenOf: async (entityId) => (await signToken(secret, { entityId })).token,
        stop: () => app.stop(),
      };
    });
  };
  describeWorlds(title, ofWorlds, on);
}
