import { scriptedModel } from '@lastcall/core/testing';
import type { ServerContext } from '@modelcontextprotocol/server';
import { expect, onTestFinished, test } from 'vitest';
import { awaitRun } from '../../src/runtime/chat/await-run.ts';
import { cancelWithCall } from '../../src/transport/mcp-server/call-cancellation.ts';
import { toAuthInfo } from '../../src/transport/mcp-server/mcp-caller.ts';
import { chatWith } from '../support/conversations.ts';
import { describeWorlds } from '../support/describe-worlds.ts';

describeWorlds('a call that is cancelled while its turn is being stored', (open) => {
  test('[X19] the run is cancelled too', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    onTestFinished(() => resolve('Paid.'));
    const world = await open({ models: { default: scriptedModel(() => promise) } });
    const chat = await chatWith(world);
    const { runId, contextId } = await chat.start({ message: 'Pay' });
    const authInfo = toAuthInfo({ keyId: 'key', address: '', view: {}, requestId: 'r' });
    const ctx = { http: { authInfo }, mcpReq: { signal: AbortSignal.abort('The user stopped it.') } } as ServerContext;
    const stopping = new AbortController().signal;
    using _ = cancelWithCall({ services: world.services, runId, contextId, ctx, isCloseCancel: true, stopping });
    expect((await awaitRun(world.services, runId)).status).toBe('cancelled');
  });
});
