import { expect, test } from 'vitest';
import { startModelServer } from './model-server.ts';

// The servers of these tests must refuse exactly what the real APIs refuse.
const offered = [{ name: 't', input_schema: { type: 'object' } }];
const user = { role: 'user', content: [{ type: 'text', text: 'Hi.' }] };
const use = (id: string) => ({ type: 'tool_use', id, name: 't', input: {} });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' });
const says = (...content: object[]) => ({ role: 'assistant', content });
const told = (...content: object[]) => ({ role: 'user', content });
const text = (said: string) => ({ type: 'text', text: said });

test.each<[string, object[]]>([
  ['a system message in the middle', [user, says(text('Hm.')), { role: 'system', content: [text('Go on.')] }]],
  ['two messages of one role', [user, user]],
  ['a conversation that ends with the assistant', [user, says(text('Hm.'))]],
  ['a conversation that begins with the assistant', [says(text('Hm.')), user]],
  ['a message without content', [user, says(), user]],
  ['a blank text', [user, says(text('\n\n')), user]],
  ['a call without a result', [user, says(use('a')), user]],
  ['one result for two calls', [user, says(use('a'), use('b')), told(result('a'))]],
  ['two results for one call', [user, says(use('a')), told(result('a'), result('a'))]],
  ['two calls of one id', [user, says(use('a'), use('a')), told(result('a'), result('a'))]],
  ['a result without a call', [user, says(text('Hm.')), told(result('a'))]],
  ['a result that comes a message later', [user, says(use('a')), user, says(text('Hm.')), told(result('a'))]],
  ['a result after a text', [user, says(use('a')), told(text('So:'), result('a'))]],
  ['input that is no object', [user, says({ ...use('a'), input: '{}' }), told(result('a'))]],
  ['an id with strange characters', [user, says(use('a:1')), told(result('a:1'))]],
  ['an error that says nothing', [user, says(use('a')), told({ ...result('a'), content: '', is_error: true })]],
  ['thinking with a false signature', [user, says({ type: 'thinking', thinking: 'Hm.', signature: 'no' }), user]],
])('the Anthropic server refuses %s', async (_, messages) => {
  await using server = await startModelServer('anthropic', [{ text: 'Fine.' }]);
  const post = (sent: object[]) =>
    fetch(`${server.url}/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'key', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ max_tokens: 1, messages: sent, tools: offered }),
    });
  expect((await post(messages)).status).toBe(400);
  expect((await post([user, says(use('a')), told(result('a'), text('So?'))])).status).toBe(200);
});

test('the Anthropic server refuses calls in a history without tools', async () => {
  await using server = await startModelServer('anthropic', [{ text: 'Fine.' }]);
  const messages = [user, says(use('a')), told(result('a'))];
  const post = (tools: object[]) =>
    fetch(`${server.url}/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'key', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ max_tokens: 1, messages, tools }),
    });
  expect((await post([])).status).toBe(400);
  expect((await post(offered)).status).toBe(200);
});

const call = (id: string) => ({ id, type: 'function', function: { name: 't', arguments: '{}' } });
const calls = (...tool_calls: object[]) => ({ role: 'assistant', content: null, tool_calls });
const tool = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'ok' });
const asks = { role: 'user', content: 'Hi.' };

test.each<[string, object[]]>([
  ['a call without a result', [asks, calls(call('a')), asks]],
  ['a call without a result at the end', [asks, calls(call('a'))]],
  ['one result for two calls', [asks, calls(call('a'), call('b')), tool('a'), asks]],
  ['two results for one call', [asks, calls(call('a')), tool('a'), tool('a')]],
  ['a result without a call', [asks, tool('a')]],
  ['two calls of one id', [asks, calls(call('a'), call('a')), tool('a'), tool('a')]],
  ['a long id', [asks, calls(call('a'.repeat(41))), tool('a'.repeat(41))]],
  ['an empty list of calls', [asks, calls(), asks]],
  ['a message that says nothing', [asks, { role: 'assistant', content: null }, asks]],
  [
    'arguments that are no object',
    [asks, calls({ ...call('a'), function: { name: 't', arguments: '{"a":' } }), tool('a')],
  ],
])('the OpenAI server refuses %s', async (_, messages) => {
  await using server = await startModelServer('openai', [{ text: 'Fine.' }]);
  const post = (sent: object[]) =>
    fetch(`${server.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer key' },
      body: JSON.stringify({ model: 'm', messages: sent }),
    });
  expect((await post(messages)).status).toBe(400);
  expect((await post([asks, calls(call('a'), call('b')), tool('b'), tool('a'), asks])).status).toBe(200);
});
