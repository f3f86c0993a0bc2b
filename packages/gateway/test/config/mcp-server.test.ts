import { describe, expect, test } from 'vitest';
import { agentConfigSchema } from '../../src/config/agent-config.ts';
import { check } from '../../src/config/config-problem.ts';

const http = { name: 'web', transport: 'http', url: 'https://mcp.example.com/mcp' };
const stdio = { name: 'files', transport: 'stdio', command: 'npx', args: ['-y', 'a-server'] };

function checkServers(...servers: readonly object[]) {
  return check(agentConfigSchema, { name: 'A', instructions: '', mcp: { servers } });
}

describe('the MCP servers of an agent', () => {
  test('[X14] both transports are accepted, with all their options', () => {
    const servers = [
      {
        ...http,
        headers: { Authorization: 'Bearer ${env.GITHUB_TOKEN}' },
        allowedTools: ['list_prs', 'create_issue'],
        trusted: true,
        timeout: 5_000,
        tools: { create_issue: { visible: true, terminal: false, effects: 'external', approval: true } },
      },
      { ...stdio, env: { TOKEN: '${env.TOKEN}', MODE: 'plain' } },
    ];
    expect(checkServers(...servers)).toMatchObject({ ok: true, value: { mcp: { servers } } });
  });

  test('mcpServers means the same as mcp.servers', () => {
    const config = { name: 'A', instructions: '', mcpServers: [http] };
    expect(check(agentConfigSchema, config)).toMatchObject({ ok: true, value: { mcp: { servers: [http] } } });
    const twice = check(agentConfigSchema, { ...config, mcp: { servers: [http] } });
    expect(twice).toMatchObject({ problems: [{ path: 'mcpServers', message: expect.stringContaining('set twice') }] });
  });

  test.each([
    ['a missing URL', { name: 'a', transport: 'http' }, 'mcp.servers[0].url'],
    ['a missing command', { name: 'a', transport: 'stdio' }, 'mcp.servers[0].command'],
    ['a command for HTTP', { ...http, command: 'sh' }, 'mcp.servers[0].command'],
    ['headers for a process', { ...stdio, headers: {} }, 'mcp.servers[0].headers'],
    ['a URL that is no web address', { ...http, url: 'file:///etc/passwd' }, 'mcp.servers[0].url'],
    ['credentials in a URL', { ...http, url: 'https://a:b@example.com' }, 'mcp.servers[0].url'],
    ['a secret in a URL', { ...http, url: 'https://example.com/?k=${env.KEY}' }, 'mcp.servers[0].url'],
    ['an input in a header', { ...http, headers: { 'X-A': '{{input.a}}' } }, 'mcp.servers[0].headers["X-A"]'],
    ['a header of the connection', { ...http, headers: { Host: 'a' } }, 'mcp.servers[0].headers.Host'],
    ['a header that is none', { ...http, headers: { 'a b': 'c' } }, 'mcp.servers[0].headers["a b"]'],
    ['an unknown field', { ...http, token: 'x' }, 'mcp.servers[0].token'],
    ['an unknown setting of a tool', { ...http, tools: { a: { hidden: true } } }, 'mcp.servers[0].tools.a.hidden'],
    [
      'settings of a tool that is not allowed',
      { ...http, allowedTools: ['a'], tools: { b: {} } },
      'mcp.servers[0].tools.b',
    ],
  ])('%s is refused with its path', (_what, server, path) => {
    expect(checkServers(server)).toMatchObject({ ok: false, problems: [{ path }] });
  });

  test('two servers with one name are refused', () => {
    expect(checkServers(http, { ...stdio, name: 'web' })).toMatchObject({
      ok: false,
      problems: [{ path: 'mcp.servers[1].name' }],
    });
  });
});
