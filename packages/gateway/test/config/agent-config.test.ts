import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import { describe, expect, test } from 'vitest';
import { agentConfigSchema } from '../../src/config/agent-config.ts';
import { DEFAULT_AGENT_LIMITS, resolveAgentLimits, resolveGatewayLimits } from '../../src/config/agent-limits.ts';
import { check } from '../../src/config/config-problem.ts';
import { DEFAULT_GATEWAY_LIMITS } from '../../src/config/limits.ts';

const agent = { name: 'Concierge', instructions: 'Help.' };
const confirm = { name: 'confirmAction', executionType: 'space' };

const problems = (config: unknown): string[] => {
  const result = check(agentConfigSchema, config);
  return result.ok ? [] : result.problems.map(({ path, message }) => `${path} ${message}`);
};

describe('an agent as data', () => {
  test('a full configuration is valid, and the defaults of a tool in it are filled in', () => {
    const full = {
      ...agent,
      description: 'Books hotels.',
      model: 'anthropic/some-model',
      tools: ['lookup', confirm],
      builtIns: ['messages', 'memories'],
      batch: { onError: 'cancel-rest', afterTerminal: 'skip', history: 'trim' },
      terminating: { toolIds: ['report'], consecutiveNudges: 0, nudgeMessage: 'Go on.', maxInvocations: 3 },
      limits: { maxSteps: 5, hopLimit: 0 },
      middleware: ['log', { retry: { attempts: 3, backoffMs: 0 } }, { cache: { ttlMs: 1_000, maxEntries: 5 } }],
    };
    const result = check(agentConfigSchema, full);
    expect(result).toMatchObject({
      ok: true,
      value: { ...full, tools: ['lookup', { ...confirm, description: 'confirmAction' }] },
    });
  });

  test.each([
    ['no name', { instructions: '' }, /^name is missing: it must be a string/],
    ['a name of spaces', { ...agent, name: '  ' }, /^name must not be empty/],
    ['a name with a line break', { ...agent, name: 'a\nb' }, /^name must not contain line breaks/],
    ['no instructions', { name: 'a' }, /^instructions is missing/],
    ['an unknown field', { ...agent, instruction: 'x' }, /^instruction is unknown/],
    ['a model with a space', { ...agent, model: 'a b' }, /^model must be 1–200 characters without spaces/],
    [
      'a tool that is wrong inside',
      { ...agent, tools: ['a', { ...confirm, visible: false }] },
      /^tools\[1\]\.visible must not be false/,
    ],
    ['a tool with an unknown field', { ...agent, tools: [{ ...confirm, x: 1 }] }, /^tools\[0\]\.x is unknown/],
    [
      'a group of built-in tools that does not exist',
      { ...agent, builtIns: ['messages', 'memory'] },
      /^builtIns\[1\] must be one of "messages", "goals", "memories", "plans", "outputs"\. Did you mean "memories"\?/,
    ],
    [
      'a group of built-in tools twice',
      { ...agent, builtIns: ['goals', 'goals'] },
      /^builtIns\[1\] names "goals" a second/,
    ],
    ['a wrong boolean', { ...agent, batch: { onError: false } }, /^batch\.onError must be .+, not false\.$/],
    ['a number as a tool', { ...agent, tools: [7] }, /^tools\[0\] must be a string or an object, not a number\.$/],
    [
      'a tool twice',
      { ...agent, tools: ['confirmAction', confirm] },
      /^tools\[1\] names "confirmAction" a second time/,
    ],
    [
      'a contract without tools',
      { ...agent, terminating: { toolIds: [] } },
      /^terminating\.toolIds must be 1 or more entries/,
    ],
    [
      'half a nudge',
      { ...agent, terminating: { toolIds: ['a'], consecutiveNudges: 0.5 } },
      /^terminating\.consecutiveNudges must be a whole number/,
    ],
    [
      'a rule of batches that is none',
      { ...agent, batch: { onError: 'stop' } },
      /^batch\.onError must be "continue" or "cancel-rest", not "stop"/,
    ],
    ['an unknown limit', { ...agent, limits: { maxStep: 1 } }, /^limits\.maxStep is unknown/],
    ['a limit of nothing', { ...agent, limits: { maxSteps: 0 } }, /^limits\.maxSteps must be 1 or more/],
    [
      'a spend limit of nothing',
      { ...agent, limits: { spend: { perRun: 0 } } },
      /^limits\.spend\.perRun must be more than 0\.$/,
    ],
    ['a huge limit', { ...agent, limits: { maxSteps: 1e300 } }, /^limits\.maxSteps must be/],
    ['an unknown middleware', { ...agent, middleware: ['log', 'magic'] }, /^middleware\[1\] must be "log", \{ retry/],
    [
      'a retry in words',
      { ...agent, middleware: [{ retry: { attempts: 'x' } }] },
      /^middleware\[0\]\.retry\.attempts must be/,
    ],
    [
      'no retry',
      { ...agent, middleware: [{ retry: { attempts: 0 } }] },
      /^middleware\[0\]\.retry\.attempts must be 1 or more/,
    ],
    [
      'MCP servers',
      { ...agent, mcp: { servers: [{ name: 'a' }] } },
      /^mcp\.servers\[0\]\.transport is missing: it must be "http" or "stdio"/,
    ],
    [
      'MCP servers by the other name',
      { ...agent, mcpServers: [{ name: 'a' }] },
      /^mcpServers\[0\]\.transport is missing/,
    ],
    ['a machine', { ...agent, machine: {} }, /^machine is not data: write defineAgent/],
  ])('[G15] %s is refused with its path', (_what, config, expected) => {
    expect(problems(config)[0]).toMatch(expected);
  });

  test('an empty list of MCP servers is the same as none', () => {
    const result = check(agentConfigSchema, { ...agent, mcp: { servers: [] }, mcpServers: [] });
    expect(result).toEqual({ ok: true, value: agent });
  });

  test('its schema can be published', () => {
    const app = new OpenAPIHono();
    const body = { content: { 'application/json': { schema: agentConfigSchema } } };
    const route = createRoute({
      method: 'post',
      path: '/',
      request: { body },
      responses: { 204: { description: '' } },
    });
    app.openapi(route, (c) => c.body(null, 204));
    const published = JSON.stringify(app.getOpenAPI31Document({ openapi: '3.1.0', info: { title: '', version: '' } }));
    expect(published).toContain('"required":["name"]');
  });

  test('several problems are reported at once', () => {
    expect(problems({ name: 1, limits: { maxSteps: 'x' } })).toHaveLength(3);
  });

  test('[G5] each limit has its own default; the agent takes precedence over the gateway', () => {
    expect(resolveAgentLimits()).toEqual(DEFAULT_AGENT_LIMITS);
    expect(DEFAULT_AGENT_LIMITS.hopLimit).toBe(8);
    const limits = resolveAgentLimits({ maxSteps: 3, maxGoals: undefined }, { maxSteps: 9, maxGoals: 0 });
    expect(limits).toEqual({ ...DEFAULT_AGENT_LIMITS, maxSteps: 3, maxGoals: 0 });
    expect(resolveGatewayLimits({ bodyBytes: 5, agent: { maxSteps: 3 } }, 700)).toMatchObject({
      bodyBytes: 5,
      leaseMs: 700,
    });
  });

  test('[G65] shares that are not set are a tenth of the total for a caller, and a half for an address', () => {
    expect(resolveGatewayLimits({}, 700)).toEqual({ ...DEFAULT_GATEWAY_LIMITS, leaseMs: 700 });
    expect(resolveGatewayLimits({ connections: 50, connectionsPerAddress: 50, bodies: 7 }, 700)).toMatchObject({
      connections: 50,
      connectionsPerCaller: 5,
      connectionsPerAddress: 50,
      bodies: 7,
      bodiesPerCaller: 1,
      bodiesPerAddress: 4,
    });
  });
});
