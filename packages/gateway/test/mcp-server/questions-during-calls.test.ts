import { tool } from '@lastcall/core';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { chatApi } from '../chat/chat-api.ts';
import { insertPendingCall } from '../runs/rows.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { databases } from '../support/stores.ts';
import type { World } from '../support/world.ts';

describeWorlds(
  'questions that tools ask during their calls',
  (open) => {
    test('[X19] the result of a call is that of the call itself, also if a question comes before it in the table', async () => {
      let world: World | undefined;
      const order = tool({
        description: 'Orders.',
        inputSchema: z.object({}),
        async execute(_input, { toolCallId }) {
          await world?.in(async (tx) => {
            const calls = tx.db.selectFrom('calls').select(['agent_id', 'thread_id', 'run_id']);
            const asking = await calls.where('id', '=', toolCallId).executeTakeFirstOrThrow();
            const answered = {
              status: 'settled' as const,
              wait_kind: 'input' as const,
              wait_status: 'resolved' as const,
            };
            await insertPendingCall(tx, { id: `0-${toolCallId}`, ...asking, ...answered, during_call: toolCallId });
          });
          return 'Ordered.';
        },
      });
      world = await open({ models: {}, tools: { order } });
      const { app, key } = await chatApi(world);
      const client = new Client({ name: 'test', version: '1' });
      const transport = new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
        requestInit: { headers: { authorization: `Bearer ${key}` } },
        fetch: async (input, init) => await app.fetch(new Request(input, init)),
      });
      await client.connect(transport);
      expect(await client.callTool({ name: 'order', arguments: {} })).toMatchObject({
        content: [{ type: 'text', text: 'Ordered.' }],
      });
      await client.close();
      app.stop();
    });
  },
  databases,
);
