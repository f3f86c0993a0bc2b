// The same desk as an agent of a gateway, one machine for each conversation. The gateway stops while the refund waits for a person, and
// another one goes on: it knows the node, its state and the call that waits.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { defineAgent } from '@lastcall/gateway';
import { startTestGateway, type TestGateway, waitFor } from '@lastcall/gateway/testing';
import { desk } from './charter.ts';

const home = await mkdtemp(join(tmpdir(), 'desk-'));

/** Starts a gateway on the same folder, with the next replies of the model. */
async function open(replies: readonly ScriptedReply[]): Promise<TestGateway> {
  return await startTestGateway({
    home,
    model: scriptedModel(replies),
    definitions: { desk: defineAgent({ machine: desk, root: 'triage' }) },
    agents: [{ name: 'Desk', definition: 'desk' }],
  });
}

const asked = await ask();
await approve();
await rm(home, { recursive: true });

async function ask() {
  const message = 'I want my money back for order A-17.';
  await using gateway = await open([
    { toolName: 'transition_refund', input: { orderId: 'A-17' } },
    { toolName: 'payBack' },
  ]);
  const answer = await gateway.api('/chat', { message });
  console.log(
    `> ${message}\n  The run is ${answer.stop.reason}. ${answer.pending_calls[0].tool_name} waits for approval.`,
  );
  await showMachine(gateway, answer.context_id);
  return answer;
}

async function approve(): Promise<void> {
  await using gateway = await open([{ toolName: 'formatReceipt' }]);
  console.log('Another gateway starts. The refund is approved.');
  const approval = { callId: asked.pending_calls[0].tool_call_id, approve: true };
  const { runId } = await gateway.api(`/api/runs/${asked.run_id}/tool-results`, approval);
  const ended = await waitFor(async () => {
    const run = await gateway.api(`/api/runs/${runId}`);
    return run.status === 'completed' && run;
  });
  console.log(ended.response);
  await showMachine(gateway, asked.context_id);
}

async function showMachine(gateway: TestGateway, contextId: string): Promise<void> {
  const [{ id }] = (await gateway.api('/api/agents')).items;
  const { instances } = await gateway.api(`/api/agents/${id}/machine?contextId=${contextId}`);
  for (const { node, phase, state } of instances) console.log(`  ${node} is ${phase}: ${JSON.stringify(state)}`);
}
