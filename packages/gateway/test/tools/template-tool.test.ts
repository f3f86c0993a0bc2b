import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';

const complete = {
  name: 'complete',
  description: 'Completes the task.',
  executionType: 'internal',
  inputSchema: {
    type: 'object',
    properties: { result: { type: 'string' }, details: {} },
    required: ['result'],
    additionalProperties: false,
  },
  execution: { template: 'Task completed: {{input.result}}' },
};

test('a completion tool can be data: its output is the template, filled with the input', async () => {
  const model = scriptedModel([{ toolName: 'complete', input: { result: '3 invoices {{input.details}}' } }]);
  await using gateway = await startTestGateway({ model });
  const { api } = gateway;
  const { id } = await api('/api/tools', complete);
  const agent = await api('/api/agents', { name: 'Clerk', instructions: 'Count.', tools: ['complete'] });
  const { response, generated_messages } = await api('/chat', {
    ...{ agent: agent.id, message: 'Count the invoices.' },
    terminating_config: { tool_ids: [id] },
  });
  // Values of the input are never read as templates.
  expect(response).toBe('Task completed: 3 invoices {{input.details}}');
  expect(generated_messages.at(-1)).toMatchObject({ tool_output: response });
});

test('a field that the call leaves out is an error that the model reads, and does not end the task', async () => {
  const template = '{{input.result}}: {{input.details.why}}';
  const model = scriptedModel([
    { toolName: 'complete', input: { result: 'Done' } },
    { toolName: 'complete', input: { result: 'Done', details: { why: { n: 1 } } } },
  ]);
  await using gateway = await startTestGateway({
    model,
    tools: { complete: { ...complete, execution: { template } } },
  });
  const { api } = gateway;
  const agent = await api('/api/agents', {
    ...{ name: 'Clerk', instructions: 'Count.', tools: ['complete'] },
    terminating: { toolIds: ['complete'] },
  });
  await api(`/api/agents/${agent.id}/events`, { source: 'test', name: 'go' });
  const run = await waitFor(async () => {
    const [item] = (await api(`/api/runs?agentId=${agent.id}`)).items;
    return item?.status === 'completed' && (await api(`/api/runs/${item.id}`));
  });
  expect(run).toMatchObject({ response: 'Done: {"n":1}', counts: { ok: 1, error: 1 } });
  const told = JSON.stringify(model.requests[1]?.prompt);
  expect(told).toContain('input.details.why is missing, and the output needs it.');
});

test('the test of a tool fills its template, and a template that cannot work is refused over HTTP with its path', async () => {
  await using gateway = await startTestGateway();
  const { api, request } = gateway;
  const { id } = await api('/api/tools', complete);
  expect((await api(`/api/tools/${id}/test`, { input: { result: 'x' } })).outcome).toMatchObject({
    ...{ status: 'ok', value: 'Task completed: x' },
  });
  for (const [execution, path, message] of [
    [{ template: '{{result}}' }, 'execution.template', 'has an unknown placeholder {{result}}. Write {{input.path}}.'],
    [{ value: 'Task completed: {{input.result}}' }, 'execution.value', 'Use { template: "…" }'],
  ] as const) {
    const refused = await request('/api/tools', { ...complete, name: 'other', execution });
    expect(refused.status).toBe(422);
    const { error } = (await refused.json()) as { error: { message: string; details: { path: string } } };
    expect(error.details.path).toBe(path);
    expect(error.message).toContain(message);
  }
});
