import { tool } from '@lastcall/core';
import { startTestGateway, waitFor } from '@lastcall/gateway/testing';
import type { CostContender, CostConversation } from './contender.ts';
import { INSTRUCTIONS, TOOLS } from './tasks.ts';

/** An agent of a gateway, in a space with one person, with all its built-in tools. */
export const lastcallAgent: CostContender = {
  name: 'Lastcall, an agent in a space',
  of: '@lastcall/gateway',
  open: (modelUrl) => openAgent(modelUrl, {}),
};

/** The same agent without built-in tools. Like the other contenders, it has the four tools and nothing else. */
export const lastcallWithoutBuiltIns: CostContender = {
  name: 'Lastcall, the same agent with `builtIns: []`',
  of: '@lastcall/gateway',
  open: (modelUrl) => openAgent(modelUrl, { builtIns: [] }),
};

async function openAgent(modelUrl: string, settings: { readonly builtIns?: readonly [] }): Promise<CostConversation> {
  const tools = Object.fromEntries(
    TOOLS.map(({ name, description, inputSchema, needsApproval, run }) => [
      name,
      tool({
        description,
        inputSchema,
        ...(needsApproval === undefined ? {} : { approval: true }),
        execute: (input) => run(input as Readonly<Record<string, unknown>>),
      }),
    ]),
  );
  const gateway = await startTestGateway({
    env: { LASTCALL_MODEL_URL: modelUrl },
    model: 'openai-compatible/scripted',
    tools,
    agents: [{ name: 'Clerk', instructions: INSTRUCTIONS, tools: TOOLS.map(({ name }) => name), ...settings }],
  });
  const [agent] = (await gateway.api('/api/agents')).items;
  const ada = await gateway.api('/api/entities', { kind: 'human', displayName: 'Ada' });
  const space = await gateway.api('/api/spaces', { name: 'Books' });
  for (const entityId of [ada.id, agent.entityId]) await gateway.api(`/api/spaces/${space.id}/members`, { entityId });
  return {
    async say(text) {
      const { id } = await gateway.api(`/api/spaces/${space.id}/messages`, { text, entityId: ada.id });
      return await waitFor(async () => {
        const [open] = (await gateway.api('/api/pending')).items;
        if (open !== undefined)
          await gateway.api(`/api/runs/${open.runId}/tool-results`, { callId: open.callId, approve: true });
        const { items } = await gateway.api(`/api/runs?agentId=${agent.id}&status=running`);
        if (open !== undefined || items.length > 0) return undefined;
        const { items: messages } = await gateway.api(`/api/spaces/${space.id}/messages`);
        const at = messages.findIndex((one: { id: string }) => one.id === id);
        const after = messages.slice(at + 1);
        const waiting = (await gateway.api(`/api/agents/${agent.id}/inbox?status=pending`)).items.length;
        const said = after.filter((one: { entityId: string }) => one.entityId === agent.entityId);
        return waiting > 0 ? undefined : (said.at(-1)?.text as string | undefined);
      });
    },
    close: () => gateway.stop(),
  };
}
