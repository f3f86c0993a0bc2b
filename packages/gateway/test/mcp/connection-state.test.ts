import { describe, expect, test } from 'vitest';
import {
  attemptMs,
  type ConnectionEvent,
  type ConnectionState,
  nextConnection,
  retryMs,
} from '../../src/runtime/tools/mcp/connection-state.ts';
import { problemOf, statusOf } from '../../src/runtime/tools/mcp/mcp-status.ts';
import type { McpClient } from '../../src/runtime/tools/mcp/open-client.ts';

const [client, other] = [{}, {}] as [McpClient, McpClient];
const connecting = { kind: 'connecting' } as const;
const up = { kind: 'up', client } as const;
const lost = { kind: 'lost', problem: 'Gone.' } as const;
const down = { kind: 'down', problem: 'Refused.', authorizationUrl: undefined } as const;
const closed = { kind: 'closed' } as const;

const failed = (problem: string): ConnectionEvent => ({
  type: 'attempt-failed',
  problem,
  authorizationUrl: undefined,
});

describe('the state of a connection to an MCP server', () => {
  test.each([connecting, lost])('a server that opens is up: from $kind', (state) => {
    expect(nextConnection(state, { type: 'opened', client })).toEqual([up]);
  });

  test('a server that was down and opens is up, and is reported as back', () => {
    expect(nextConnection(down, { type: 'opened', client })).toEqual([up, { kind: 'back' }]);
  });

  test.each([connecting, lost])('a server that does not open is down, and is reported: from $kind', (state) => {
    expect(nextConnection(state, failed('Refused.'))).toEqual([down, { kind: 'down', problem: 'Refused.' }]);
  });

  test('a server that stays down is reported again only for another problem', () => {
    expect(nextConnection(down, failed('Refused.'))).toEqual([down]);
    const late = { ...down, problem: 'Late.' };
    expect(nextConnection(down, failed('Late.'))).toEqual([late, { kind: 'down', problem: 'Late.' }]);
  });

  test('a server that stays down gets the page of its latest attempt', () => {
    const authorizationUrl = 'https://example.com/allow';
    const event: ConnectionEvent = { type: 'attempt-failed', problem: 'Refused.', authorizationUrl };
    expect(nextConnection(down, event)).toEqual([{ ...down, authorizationUrl }]);
  });

  test('a server that was up is lost, and nothing is reported yet', () => {
    expect(nextConnection(up, { type: 'lost', client, problem: 'Gone.' })).toEqual([lost]);
  });

  test('the loss of a client that was replaced changes nothing', () => {
    expect(nextConnection(up, { type: 'lost', client: other, problem: 'Gone.' })[0]).toBe(up);
  });

  test.each([connecting, lost, down])('a loss that is noticed twice changes nothing: in $kind', (state) => {
    expect(nextConnection(state, { type: 'lost', client, problem: 'Late.' })[0]).toBe(state);
  });

  test.each([connecting, up, lost, down])('a connection can be closed: from $kind', (state) => {
    expect(nextConnection(state, { type: 'closed' })).toEqual([closed]);
  });

  test('a closed connection stays closed', () => {
    const events: ConnectionEvent[] = [
      { type: 'opened', client },
      failed('Refused.'),
      { type: 'lost', client, problem: 'Gone.' },
      { type: 'closed' },
    ];
    for (const event of events) expect(nextConnection(closed, event)).toEqual([closed]);
  });
});

test('only the first attempt to connect may take as long as it is configured', () => {
  const http = { transport: 'http', connectTimeoutMs: 60_000 } as const;
  expect(attemptMs(connecting, http)).toBe(60_000);
  expect(attemptMs(down, http)).toBe(5_000);
  expect(attemptMs(lost, { ...http, transport: 'stdio' })).toBe(30_000);
  expect(attemptMs(down, { ...http, connectTimeoutMs: 300 })).toBe(300);
});

test('a server that was just lost is reconnected sooner than one that is down', () => {
  expect(retryMs(lost)).toBeLessThan(retryMs(down));
});

test('operators see a lost server as connecting, and a closed one as down', () => {
  const shown = (state: ConnectionState): unknown => statusOf(state);
  expect([connecting, up, lost, down, closed].map(shown)).toEqual([
    { status: 'connecting' },
    { status: 'up' },
    { status: 'connecting', problem: 'Gone.' },
    { status: 'down', problem: 'Refused.' },
    { status: 'down', problem: 'its connection was closed' },
  ]);
  expect(statusOf({ ...down, authorizationUrl: 'u' })).toMatchObject({ authorizationUrl: 'u' });
});

test('a call that cannot be sent names the reason', () => {
  expect([connecting, lost, down, closed].map(problemOf)).toEqual([
    'it is not connected',
    'Gone.',
    'Refused.',
    'its connection was closed',
  ]);
});
