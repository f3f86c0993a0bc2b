import { waitFor } from '@lastcall/gateway/testing';
import { beforeAll, expect, test } from 'vitest';
import type { McpServerConfig } from '../../src/config/mcp-server.ts';
import { logOf, serverFiles, startMcpAgent } from '../mcp/mcp-agent.ts';
import type { OnEnd } from '../support/scratch-folder.ts';
import { watchTurns } from './turn-watch.ts';

/** How long the list of a server may delay other work, in ms of processor time. */
const LONGEST_TURN_MS = 50;
const MOST_TRIES = 8;
const SCRIPT = new URL('list-server.ts', import.meta.url).pathname;

async function listServer(name: string, args: readonly string[], onEnd?: OnEnd) {
  const files = await serverFiles(onEnd);
  const server: McpServerConfig = {
    name,
    transport: 'stdio',
    command: process.execPath,
    args: [SCRIPT, files.log, ...args],
  };
  return { server, noted: async (line: string) => (await logOf(files)).filter((one) => one === line).length };
}

async function measureRun(name: string): Promise<number> {
  // Also before the first test.
  await using folders = new AsyncDisposableStack();
  const { server } = await listServer(name, ['1000'], (remove) => folders.defer(remove));
  await using agent = await startMcpAgent([server]);
  const turns = watchTurns();
  const { settled, offered } = await agent.run([{ toolName: `${name}__tool-7`, input: { id: '7' } }]);
  const { longestTurnMs } = turns.stop();
  expect(offered[0]?.filter((one) => one.startsWith(`${name}__`))).toHaveLength(1_000);
  expect(settled[0]?.outcome).toMatchObject({ status: 'ok', value: { done: true } });
  return longestTurnMs;
}

// Loading and compiling for the first server is not part of the measurement.
beforeAll(() => measureRun('first'));

/** The garbage collector and the compiler may delay some tries, but not all. */
async function leastOf(measure: (name: string) => Promise<number>, name: string): Promise<number> {
  let longestTurnMs = await measure(name);
  for (let tries = 2; tries <= MOST_TRIES && longestTurnMs >= LONGEST_TURN_MS; tries++)
    longestTurnMs = Math.min(longestTurnMs, await measure(`${name}-${tries}`));
  return longestTurnMs;
}

test('[X24] a list of 1,000 tools is connected, checked, stored, offered and called without holding the process for 50 ms', async () => {
  expect(await leastOf(measureRun, 'large')).toBeLessThan(LONGEST_TURN_MS);
});

async function measureChanges(name: string): Promise<number> {
  await using folders = new AsyncDisposableStack();
  const { server, noted } = await listServer(name, ['1000', 'changing'], (remove) => folders.defer(remove));
  await using agent = await startMcpAgent([server]);
  const startedAt = performance.now();
  await agent.run();
  const turns = watchTurns();
  const before = await noted('changed');
  await waitFor(async () => (await noted('list')) >= 2 && (await noted('changed')) >= before + 100, {
    timeoutMs: 120_000,
  });
  const { longestTurnMs } = turns.stop();
  const pauses = (performance.now() - startedAt) / 10_000;
  // The first list, the first change, and one more after each pause.
  expect(await noted('list')).toBeLessThanOrEqual(2 + pauses);
  return longestTurnMs;
}

test('[X24] a server that announces other tools all the time is read at most once in 10 s, and does not hold the process for 50 ms', async () => {
  expect(await leastOf(measureChanges, 'restless')).toBeLessThan(LONGEST_TURN_MS);
});
