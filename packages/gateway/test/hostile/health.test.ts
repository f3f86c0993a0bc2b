import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '@lastcall/gateway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { McpServerConfig } from '../../src/config/mcp-server.ts';
import { startHttpProcess } from '../mcp/http-server.ts';
import { type McpAgent, serverFiles, startMcpAgent, stdioServer } from '../mcp/mcp-agent.ts';
import { memoryInUse } from '../support/memory.ts';
import type { OnEnd } from '../support/scratch-folder.ts';
import { watchTurns } from './turn-watch.ts';

/** How long `/health` may have to wait for other work of the process. */
const LONGEST_TURN_MS = 100;
const MOST_TRIES = 3;
/** How much memory a call may leave behind after a garbage collection. */
const MOST_KEPT_BYTES = 50_000_000;
/**
 * By how much the process may grow meanwhile. It really grows by at most 60 MB: nothing is copied for each chunk, so the garbage is small
 * even when it is collected late.
 */
const MOST_GROWN_BYTES = 500_000_000;

const isUp = ({ status }: { readonly status: string }): boolean => status === 'up';

interface Case {
  readonly what: string;
  readonly toolName: string;
  readonly text?: string;
  readonly outcome: object;
}

const lost = { status: 'error', code: 'unknown_outcome' };
const late = { status: 'error', code: 'timeout' };
const AAAA = `${'a'.repeat(40)}!`;

const ofServer = (name: string): readonly Case[] => [
  { what: `[X1] a schema with ^(a+)+$ (${name})`, toolName: `${name}__pattern`, text: AAAA, outcome: { status: 'ok' } },
  {
    what: `15,000 messages of progress (${name})`,
    toolName: `${name}__flood`,
    text: '15000',
    outcome: { status: 'ok' },
  },
  { what: `a result of 50 MB (${name})`, toolName: `${name}__huge`, outcome: lost },
  { what: `a stream without an end (${name})`, toolName: `${name}_brief__endless`, outcome: late },
];

const cases: readonly Case[] = [
  ...ofServer('stdio'),
  ...ofServer('http'),
  { what: 'a response of 50 MB to an HTTP tool', toolName: 'huge', outcome: { status: 'ok' } },
  { what: 'a response without an end to an HTTP tool', toolName: 'endless', outcome: { status: 'ok' } },
  { what: '[X1] input for a tool as data with ^(a+)+$', toolName: 'pattern', text: AAAA, outcome: { status: 'ok' } },
];

describe('the gateway stays quick and small', () => {
  const started: { agent?: McpAgent; site?: ChildProcess; http?: AsyncDisposable } = {};
  const folders = new AsyncDisposableStack();
  const onEnd: OnEnd = (remove) => folders.defer(remove);

  beforeAll(async () => {
    const script = new URL('hostile-site.ts', import.meta.url).pathname;
    started.site = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [host] = (await once(started.site.stdout?.setEncoding('utf8') as never, 'data')) as [string];
    const http = await startHttpProcess(await serverFiles(onEnd));
    started.http = http;
    const { server } = await stdioServer({ name: 'stdio' }, onEnd);
    const web = { name: 'http', transport: 'http' as const, url: http.url };
    const servers: McpServerConfig[] = [server, web].flatMap((one) => [
      { ...one, timeout: 120_000 },
      { ...one, name: `${one.name}_brief`, timeout: 1_500 },
    ]);
    const fetching = (path: string) => ({
      executionType: 'gateway' as const,
      visible: false,
      inputSchema: { type: 'object' },
      execution: { url: `http://${host}/${path}`, method: 'GET', timeout: 20_000 },
    });
    const pattern = {
      executionType: 'internal' as const,
      inputSchema: { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } },
      execution: { value: 'fine' },
    };
    started.agent = await startMcpAgent(servers, {
      tools: { huge: fetching('huge'), endless: fetching('endless'), pattern },
      agent: { tools: ['huge', 'endless', 'pattern'] },
      egress: { allow: [host, http.host] },
    });
    // Loading and compiling at the first call is not part of the measurement.
    for (const { toolName } of cases)
      if (!/endless|huge/.test(toolName)) await started.agent.run([{ toolName, input: { text: '100' } }]);
  });

  afterAll(async () => {
    await started.agent?.[Symbol.asyncDispose]();
    await started.http?.[Symbol.asyncDispose]();
    started.site?.kill('SIGKILL');
    await folders.disposeAsync();
  });

  test.each(cases)('$what: /health answers, nothing waits 100 ms for the event loop, the call settles', async (one) => {
    // The garbage collector and the compiler may delay some tries, but not all.
    let longestTurnMs = await longestTurnOf(one);
    for (let tries = 2; tries <= MOST_TRIES && longestTurnMs >= LONGEST_TURN_MS; tries++)
      longestTurnMs = Math.min(longestTurnMs, await longestTurnOf(one));
    expect(longestTurnMs).toBeLessThan(LONGEST_TURN_MS);
  });

  async function longestTurnOf(one: (typeof cases)[number]): Promise<number> {
    const agent = started.agent as McpAgent;
    // A server that was lost in the last case is connected again.
    await waitFor(async () => (await agent.gateway.api('/api/mcp/servers')).items.every(isUp), { timeoutMs: 60_000 });
    let [isOver, answers] = [false, 0];
    const keptBefore = await memoryInUse();
    const turns = watchTurns();
    const probing = (async () => {
      while (!isOver) {
        expect((await fetch(`${agent.gateway.url}/health`)).status).toBe(200);
        answers += 1;
        await sleep(5);
      }
    })();
    const { settled } = await agent.run([
      { toolName: one.toolName, input: one.text === undefined ? {} : { text: one.text } },
    ]);
    isOver = true;
    await probing;
    const { longestTurnMs, grownBytes } = turns.stop();
    expect(settled.at(-1)?.outcome).toMatchObject(one.outcome);
    expect(answers).toBeGreaterThan(0);
    expect(grownBytes).toBeLessThan(MOST_GROWN_BYTES);
    expect((await memoryInUse()) - keptBefore).toBeLessThan(MOST_KEPT_BYTES);
    return longestTurnMs;
  }
});
