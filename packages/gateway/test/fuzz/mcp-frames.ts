import fc from 'fast-check';
import type { Sent } from './odd-requests.ts';

/** Messages to the MCP server: some are right, others have a wrong version, method, id, parameter or session. */
export function mcpFrame(ids: readonly string[]): fc.Arbitrary<Sent> {
  const known = fc.record(
    {
      jsonrpc: fc.oneof(
        { weight: 9, arbitrary: fc.constant('2.0') },
        { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) },
      ),
      id: fc.oneof({ weight: 5, arbitrary: fc.nat() }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) }),
      method: fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(...METHODS) },
        { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
      ),
      params: paramsOf(ids),
    },
    { requiredKeys: ['jsonrpc', 'method'] },
  );
  const body = fc.oneof(
    { weight: 8, arbitrary: known.map((frame) => JSON.stringify(frame)) },
    { weight: 1, arbitrary: fc.array(known, { maxLength: 3 }).map((frames) => JSON.stringify(frames)) },
    { weight: 1, arbitrary: fc.oneof(fc.json(), fc.string({ unit: 'binary' }), fc.constant('{"jsonrpc":')) },
  );
  const headers = fc.record(
    {
      'content-type': fc.constantFrom('application/json', 'application/json', 'application/json', 'text/plain'),
      accept: fc.constantFrom(
        'application/json, text/event-stream',
        'application/json, text/event-stream',
        'text/html',
      ),
      'mcp-session-id': fc.constantFrom('none', 'x'.repeat(300)),
      'mcp-protocol-version': fc.constantFrom('2026-07-28', '2025-06-18', '1999-01-01', 'x'),
    },
    { requiredKeys: ['content-type', 'accept'] },
  );
  const method = fc.constantFrom('POST', 'POST', 'POST', 'POST', 'GET', 'DELETE');
  return fc.record({ method, body, headers }).map((drawn) => ({
    method: drawn.method,
    path: '/mcp',
    headers: drawn.headers as Record<string, string>,
    body: drawn.method === 'GET' ? undefined : drawn.body,
  }));
}

const METHODS = [
  'initialize',
  'notifications/initialized',
  'notifications/cancelled',
  'ping',
  'server/discover',
  'tools/list',
  'tools/call',
  'resources/list',
  'prompts/get',
  'logging/setLevel',
];

function paramsOf(ids: readonly string[]): fc.Arbitrary<unknown> {
  const call = fc.record(
    {
      name: fc.oneof(fc.constantFrom('look', 'pay', 'ask_scribe', '__proto__'), fc.string(), fc.constantFrom(...ids)),
      arguments: fc.oneof(fc.record({ text: fc.string() }), fc.jsonValue({ maxDepth: 2 })),
      _meta: fc.jsonValue({ maxDepth: 2 }),
    },
    { requiredKeys: ['name'] },
  );
  const initialize = fc.record({
    protocolVersion: fc.constantFrom('2025-06-18', '2026-07-28', ''),
    capabilities: fc.constantFrom({}, { elicitation: {} }, { sampling: 1 }),
    clientInfo: fc.record({ name: fc.string(), version: fc.string() }),
  });
  return fc.oneof(call, initialize, fc.constant({}), fc.jsonValue({ maxDepth: 2 }));
}
