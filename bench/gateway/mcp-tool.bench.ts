import { fileURLToPath } from 'node:url';
import { dispatchCall, type ToolSet } from '@lastcall/core';
import type { McpServerConfig } from '../../packages/gateway/src/config/mcp-server.ts';
import { createEgress } from '../../packages/gateway/src/ports/egress/egress.ts';
import { McpConnection } from '../../packages/gateway/src/runtime/tools/mcp/mcp-connection.ts';
import { mcpTool } from '../../packages/gateway/src/runtime/tools/mcp/mcp-tool.ts';
import { KnownSecrets } from '../../packages/gateway/src/telemetry/known-secrets.ts';
import { heldAtMost } from '../held.ts';
import { quickestSideBySide } from '../measure.ts';
import type { Report } from '../report.ts';

const MOST_US = 50;
const SERVER = fileURLToPath(new URL('mcp-echo-server.js', import.meta.url));
const INPUT = { city: 'Oslo', days: 7 };

/** What an MCP tool costs above the call of the raw client: schema, limits, result, settlement. */
export async function benchGatewayMcpTool(): Promise<Report> {
  const { Client } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const address = { command: process.execPath, args: [SERVER] };
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StdioClientTransport(address));
  const raw = (): Promise<unknown> => client.callTool({ name: 'weather', arguments: INPUT });
  const connection = new McpConnection({
    name: 'bench',
    transport: 'stdio',
    connectTimeoutMs: 30_000,
    authorizationUrl: async () => undefined,
    address: async () => ({ transport: 'stdio', ...address, env: {} }),
    egress: createEgress(),
    secrets: new KnownSecrets(),
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    findHeld: async () => new Set(),
  });
  await connection.ready({ isFresh: false, withinMs: 30_000 });
  const called = await createCall(connection, { name: 'bench', transport: 'stdio', ...address });
  const [rawUs = 0, calledUs = 0] = await quickestSideBySide([raw, called], { rounds: 200, runsPerRound: 30 });
  await client.close();
  await connection.close();
  const above = calledUs - rawUs;
  return {
    title: 'An MCP tool',
    claim: `A call with two fields, 300 bytes of JSON back, to a process over stdio; the quickest of 200 short rounds, in turns. Claim: the tool costs at most ${MOST_US} µs above the call of the raw client.`,
    columns: ['', 'µs per call', 'above the raw client, µs', 'against it'],
    rows: [
      ['`client.callTool`', rawUs, '–', '× 1.00'],
      ['the tool, by `dispatchCall`', calledUs, above, `× ${(calledUs / rawUs).toFixed(2)}`],
    ],
    findings: [heldAtMost('Above the bare call', above, MOST_US, ' µs')],
  };
}

async function createCall(connection: McpConnection, server: McpServerConfig): Promise<() => Promise<unknown>> {
  const [definition] = connection.snapshot.tools;
  if (definition === undefined) throw new Error('The server has no tools.');
  const tools: ToolSet = { weather: mcpTool(definition, server, { connection, people: () => ({}) as never }) };
  const call = { toolName: 'weather', input: JSON.stringify(INPUT) };
  const { outcome } = await dispatchCall({ tools, call });
  if (outcome.status !== 'ok') throw new Error(`The call failed: ${outcome.text}`);
  return () => dispatchCall({ tools, call });
}
