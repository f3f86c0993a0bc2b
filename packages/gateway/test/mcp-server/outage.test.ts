import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import type { ServerContext } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { DEFAULT_MCP_EXPOSURE } from '../../src/config/mcp-exposure.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { StoreUnavailable } from '../../src/ports/store/store-error.ts';
import { toolCatalog } from '../../src/runtime/toolset/tool-catalog.ts';
import { callStateCodec } from '../../src/transport/mcp-server/call-state.ts';
import { callTool } from '../../src/transport/mcp-server/call-tool.ts';
import { toAuthInfo } from '../../src/transport/mcp-server/mcp-caller.ts';
import { describeWorlds } from '../support/describe-worlds.ts';

/** A store that becomes unavailable when the result of the call is read. */
function awayAtTheEnd(store: Store): Store {
  let isStored = false;
  const db = store.db.withPlugin({
    transformQuery({ node }) {
      if (isStored && JSON.stringify(node).includes('"contexts"')) throw new StoreUnavailable(new Error('away'));
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const transaction: Store['transaction'] = async (work, options) => {
    const done = await store.transaction(work, options);
    isStored = true;
    return done;
  };
  return { ...store, db, transaction };
}

describeWorlds('a call whose store becomes unavailable', (open) => {
  test('[X19] once the call is stored, the error does not say that nothing was changed', async () => {
    const paid: string[] = [];
    const execute = (): string => {
      paid.push('once');
      return 'Paid.';
    };
    const pay = tool({ description: 'Pays.', inputSchema: z.object({}), execute });
    const world = await open({ models: { default: scriptedModel([]) }, tools: { pay } });
    const { registry } = world;
    const services = { ...world.services, store: awayAtTheEnd(world.store) };
    const catalog = toolCatalog(registry, services.limits);
    const mcpReq = { signal: new AbortController().signal, requestState: () => undefined };
    const ctx = {
      mcpReq,
      http: { authInfo: toAuthInfo({ keyId: 'key', address: '', view: {}, requestId: 'r' }) },
    } as unknown as ServerContext;
    const offer = { catalog, fileTools: registry.tools, exposure: DEFAULT_MCP_EXPOSURE };
    const codec = callStateCodec(new Uint8Array(32));
    const calling = callTool(
      { services, registry, offer, codec, stopping: new AbortController().signal },
      { params: { name: 'pay', arguments: {} }, ctx, era: 'modern', capabilities: {}, isLogged: false },
    );
    await expect(calling).rejects.toMatchObject({ code: 'store_unavailable', inDoubt: true });
    expect(paid).toEqual(['once']);
  });
});
