import { describe, expect, test } from 'vitest';
import type { AgentConfig } from '../../src/config/agent-config.ts';
import { holdChangedTools } from '../../src/domain/mcp/hold-changed-tools.ts';
import { connectionKey, serversOf, withServersOf } from '../../src/runtime/tools/mcp/mcp-servers.ts';
import { openApi } from '../http/api.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';

const config: AgentConfig = {
  name: 'Bot',
  instructions: 'Help.',
  mcp: { servers: [{ name: 'shop', transport: 'http', url: 'https://shop.example/mcp' }] },
};

/** The key under which connections and authorizations of the agent's server are kept. */
function keyIn(project: string): string {
  const [server] = serversOf(withServersOf(project, config));
  return server === undefined ? '' : connectionKey(server);
}

describe.each(databases)('MCP servers of projects on $kind', ({ create }) => {
  const database = forAllTests(create);
  const api = forAllTests(() => openApi(database));

  test('[O1] one server that agents of two projects name has two connections, with an authorization each', () => {
    expect(new Set(['default', 'acme', 'bolt'].map(keyIn)).size).toBe(3);
    expect(keyIn('acme')).toBe(keyIn('acme'));
    // What an earlier version stored is still found.
    expect(keyIn('default')).toBe(connectionKey(config.mcp?.servers[0] as never));
  });

  test('[O1] a project sees and approves only changed tools of its own servers', async () => {
    for (const id of ['acme', 'bolt']) {
      await api.done('POST', '/api/projects', { id });
      const server = { key: id, name: 'shop', project: id };
      for (const fingerprint of ['first', 'changed'])
        await holdChangedTools(api.services, server, {
          tools: [{ name: 'pay', fingerprint, definition: () => ({ fingerprint }) }],
          isChanged: true,
        });
    }
    const secret = (
      await api.done<{ key: string }>('POST', '/api/keys', { name: 'k', scopes: ['write'], project: 'acme' })
    ).key;
    const all = (await api.call('GET', '/api/mcp/tools')).body.items;
    expect(all).toHaveLength(2);
    const { items } = (await api.call('GET', '/api/mcp/tools', { secret })).body;
    expect(items).toMatchObject([{ status: 'held', server: 'shop', name: 'pay' }]);
    const other = all.find(({ id }: { id: string }) => id !== items[0].id);
    const approve = (id: string) =>
      api.call('POST', `/api/mcp/tools/${id}/approve`, { secret, body: { fingerprint: 'changed' } });
    expect((await approve(other.id)).status).toBe(404);
    expect((await approve(items[0].id)).body).toMatchObject({ status: 'approved' });
    expect((await api.call('GET', '/api/mcp/tools?status=held')).body.items).toMatchObject([{ id: other.id }]);
  });
});
