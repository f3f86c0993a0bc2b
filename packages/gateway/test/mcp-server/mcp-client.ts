import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe } from 'vitest';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../../src/testing/test-gateway.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { type Database, embedded } from '../support/stores.ts';

export type Era = '2025' | '2026';

export interface Connecting {
  readonly era: Era;
  readonly key?: string;
  readonly capabilities?: NonNullable<ClientOptions['capabilities']>;
  readonly inputRequired?: NonNullable<ClientOptions['inputRequired']>;
}

/** The official client, connected to a gateway's MCP server. */
export async function connect(
  { url, secretKey }: { url: string; secretKey: string },
  { era, key = secretKey, ...options }: Connecting,
): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: era === '2025' ? 'legacy' : 'auto' }, capabilities: {}, ...options },
  );
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  return client;
}

export interface McpGateways {
  /** A gateway that ends with its test. */
  start(options?: TestGatewayOptions): Promise<TestGateway>;
  /** A client that ends with its test. */
  connect(gateway: { url: string; secretKey: string }, connecting: Connecting): Promise<Client>;
}

/** The tests with real gateways on every database. The gateways of a test share one. */
export function describeMcpServer(title: string, tests: (gateways: McpGateways, kind: Database['kind']) => void): void {
  describe.each(embedded)(`${title} on $kind`, ({ create, kind }) => {
    const database = forAllTests(create);
    const gateways: TestGateway[] = [];
    const clients: Client[] = [];
    afterEach(async () => {
      for (const client of clients.splice(0)) await client.close();
      for (const gateway of gateways.splice(0)) await gateway.stop();
    });
    tests(
      {
        async start(options = {}) {
          const place = kind === 'postgres' ? { databaseUrl: database.location } : { home: database.location };
          const gateway = await startTestGateway({ tuning: { sweepMs: 100 }, ...place, ...options });
          gateways.push(gateway);
          return gateway;
        },
        async connect(gateway, connecting) {
          const client = await connect(gateway, connecting);
          clients.push(client);
          return client;
        },
      },
      kind,
    );
  });
}

/** A call that is sent again, with the answers to its questions. */
export type Resumed = Parameters<Client['callTool']>[0] & {
  readonly requestState: string;
  readonly inputResponses: Readonly<Record<string, unknown>>;
};

/** The questions to a call, if the client leaves them to the test. */
export interface Asked {
  readonly resultType: string;
  readonly requestState: string;
  readonly inputRequests: Readonly<Record<string, unknown>>;
}

export async function ask(client: Client, call: Parameters<Client['callTool']>[0]): Promise<Asked> {
  return (await client.callTool(call, { allowInputRequired: true })) as unknown as Asked;
}

export async function resume(client: Client, call: Resumed): Promise<unknown> {
  return await client.callTool(call, { allowInputRequired: true });
}

/** Accepts every question. */
export function accept({ inputRequests }: Asked): Resumed['inputResponses'] {
  return Object.fromEntries(Object.keys(inputRequests).map((key) => [key, { action: 'accept', content: {} }]));
}

/** The texts of a result. */
export function textOf(result: unknown): string {
  const { content = [] } = result as { content?: { type: string; text?: string }[] };
  return content.flatMap(({ text }) => text ?? []).join('\n');
}
