import { expect, test } from 'vitest';
import { holdChangedTools } from '../../src/domain/mcp/hold-changed-tools.ts';
import { approveMcpTool, listMcpTools } from '../../src/domain/mcp/mcp-tool.ts';
import { newId } from '../../src/domain/new-id.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { holdLock, overlapping } from '../support/held-lock.ts';
import type { World } from '../support/world.ts';

const listWith = (description: string) => ({
  tools: [{ name: 'pay', fingerprint: description, definition: () => ({ description }) }],
  isChanged: true,
});

describeIdleWorld('two gateways that use one MCP server', ({ world, beside }) => {
  const other = beside();
  const look = async (one: World, key: string, description: string): Promise<readonly string[]> => {
    const { held } = await holdChangedTools(
      one.services,
      { key, name: 'shop', project: 'default' },
      listWith(description),
    );
    return [...held];
  };
  const approveAt = async (one: World, fingerprint: string): Promise<void> => {
    const { items } = await listMcpTools(one.store.db, { status: 'held' });
    const id = items.find(({ held }) => held?.fingerprint === fingerprint)?.id ?? '';
    await one.store.transaction((tx) => approveMcpTool(tx, { id, fingerprint, by: 'key:test' }));
  };

  test('[X17] a tool that one sees changed is held at both, and one that is approved at one is approved at both', async () => {
    const key = newId();
    expect(await look(world, key, 'Pays.')).toEqual([]);
    expect(await look(other, key, 'Pays.')).toEqual([]);
    expect(await look(other, key, 'Pays twice.')).toEqual(['pay']);
    expect(await look(world, key, 'Pays twice.')).toEqual(['pay']);
    await approveAt(world, 'Pays twice.');
    expect(await look(other, key, 'Pays twice.')).toEqual([]);
    // For a gateway that still sees the old definition, at a server that is being replaced, that one is held.
    expect(await look(other, key, 'Pays.')).toEqual(['pay']);
  });

  test('[X17] if both see a tool for the first time at once, in two versions, one version is approved and one is held', async () => {
    for (let round = 0; round < 20; round++) {
      const key = newId();
      await Promise.all([look(world, key, 'One.'), look(other, key, 'Two.')]);
      const held = [await look(world, key, 'One.'), await look(other, key, 'Two.')];
      expect(held.flat()).toEqual(['pay']);
    }
  });
});

describeIdleWorld({ title: 'an MCP tool', on: overlapping }, ({ world, database }) => {
  test('[X17] a tool that is approved while a gateway is about to hold it stays approved', async () => {
    const key = newId();
    const server = { key, name: 'shop', project: 'default' };
    await holdChangedTools(world.services, server, listWith('Pays.'));
    // Another gateway has held the same definition, and it is approved there.
    const approval = await holdLock(
      database,
      `update mcp_tools set fingerprint = $1, definition = $2, held_fingerprint = null where server_key = $3`,
      ['Pays twice.', '{"description":"Pays twice."}', key],
    );
    const holding = holdChangedTools(world.services, server, listWith('Pays twice.'));
    await approval.waitedFor({ orDone: holding });
    await approval.release();
    await holding;
    const { items } = await listMcpTools(world.store.db, {});
    expect(items).toMatchObject([{ status: 'approved', definition: { description: 'Pays twice.' } }]);
    expect(items[0]).not.toHaveProperty('held');
    expect((await holdChangedTools(world.services, server, listWith('Pays twice.'))).held.size).toBe(0);
  });
});
