import { expect, test } from 'vitest';
import { holdChangedTools } from '../../src/domain/mcp/hold-changed-tools.ts';
import { sweepMcpTools } from '../../src/domain/mcp/sweep-mcp-tools.ts';
import { newId } from '../../src/domain/new-id.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';

const DAY = 86_400_000;

describeIdleWorld('tools that servers no longer list', ({ world }) => {
  const list = async (key: string, names: readonly string[], { isChanged = true } = {}): Promise<readonly string[]> => {
    const tools = names.map((name) => ({ name, fingerprint: `print of ${name}`, definition: () => ({ title: name }) }));
    const { held } = await holdChangedTools(
      world.services,
      { key, name: 'shop', project: 'default' },
      { tools, isChanged },
    );
    return [...held];
  };
  const rowsOf = async (key: string) => {
    const rows = world.store.db.selectFrom('mcp_tools').selectAll().where('server_key', '=', key);
    return await rows.orderBy('tool_name').execute();
  };
  const namesOf = async (key: string) => (await rowsOf(key)).map((row) => row.tool_name);
  const sweep = (inMs: number) => sweepMcpTools(world.services, { now: Date.now() + inMs });

  test('[X24] a tool that has been gone for a day leaves no row, and those of other lists and servers stay', async () => {
    const [key, other] = [newId(), newId()];
    await list(other, ['a']);
    await list(key, ['a', 'b', 'c']);
    await list(key, ['a', 'b']);
    await sweep(DAY / 2);
    expect(await namesOf(key)).toEqual(['a', 'b', 'c']);
    await sweep(DAY + 60_000);
    expect(await namesOf(key)).toEqual(['a', 'b']);
    expect(await namesOf(other)).toEqual(['a']);
    // The servers are not listed for a month, which does not mean that their tools are gone.
    await sweep(30 * DAY);
    expect([await namesOf(key), await namesOf(other)]).toEqual([['a', 'b'], ['a']]);
  });

  test('[X24] a tool that is listed again stays, with its approval', async () => {
    const key = newId();
    await list(key, ['a', 'b']);
    const before = await rowsOf(key);
    await list(key, ['a']);
    await list(key, ['a', 'b']);
    await sweep(2 * DAY);
    expect(await rowsOf(key)).toEqual(before);
  });

  test('[X24] a list of 1,000 new names each time leaves only those of one day, and an unchanged list writes nothing', async () => {
    const key = newId();
    const names = (round: number) => Array.from({ length: 1_000 }, (_, index) => `${round}-${index}`);
    for (const round of [1, 2, 3]) await list(key, names(round));
    expect(await rowsOf(key)).toHaveLength(3_000);
    const before = (await rowsOf(key)).map((row) => row.gone_at);
    // Another connection to the same server may have another list. The tools that it lacks were recorded with its first list.
    await list(key, names(3), { isChanged: false });
    expect((await rowsOf(key)).map((row) => row.gone_at)).toEqual(before);
    for (let swept = 0; swept < 4; swept++) await sweep(DAY + 60_000);
    expect(await namesOf(key)).toEqual(names(3).toSorted());
  });
});
