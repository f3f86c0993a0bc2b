// The same planner as an agent of a gateway. Between the two messages the gateway stops, and another one goes on: the plan, the section that
// was opened and the tests that passed are there.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { startTestGateway } from '@lastcall/gateway/testing';
import { planner } from './definition.ts';

const home = await mkdtemp(join(tmpdir(), 'plan-'));
let contextId: string | undefined;

const steps = ['Run the tests', 'Publish 1.2.0'];
await chat('Publish 1.2.0.', [
  { toolName: 'planning_setup_plan', input: { objective: 'Publish the release', initial_steps: steps } },
  { toolName: 'open_sections', input: { keys: ['releases'] } },
  { toolName: 'run_tests', input: {} },
  { toolName: 'planning_update_step', input: { step_id: 1, status: 'done' } },
  'The tests pass. Shall I publish?',
]);
await chat('Yes.', [
  { toolName: 'planning_read_plan', input: {} },
  { toolName: 'publish', input: { version: '1.2.0' } },
  { toolName: 'planning_update_step', input: { step_id: 2, status: 'done' } },
  'Version 1.2.0 is published.',
]);
await rm(home, { recursive: true });

/** Starts a gateway, sends a message, prints what comes, and stops the gateway. The model is scripted. */
async function chat(message: string, replies: readonly ScriptedReply[]): Promise<void> {
  const model = scriptedModel(replies);
  await using gateway = await startTestGateway({
    home,
    model,
    definitions: { planner },
    agents: [{ name: 'Planner', definition: 'planner' }],
  });
  const answer = await gateway.api('/chat', { message, ...(contextId === undefined ? {} : { context_id: contextId }) });
  contextId = answer.context_id;

  const offered = (model.requests[0]?.tools ?? []).map(({ name }) => name);
  console.log(`A gateway starts. The agent has ${offered.join(', ')}.\n\n> ${message}\n`);
  for (const { type, tool_name, tool_input, tool_output } of answer.generated_messages) {
    if (type === 'tool_call') console.log(`▸ ${tool_name} ${JSON.stringify(tool_input)}`);
    if (type === 'tool_response') console.log(`  ${tool_output.split('\n', 1)}`);
  }
  console.log(`\n${answer.response}\n`);

  const [{ id }] = (await gateway.api('/api/agents')).items;
  const { slices } = await gateway.api(`/api/agents/${id}/session?contextId=${contextId}`);
  console.log('In the session:', slices.plan.state.steps, slices.published?.state ?? [], '\n');
}
