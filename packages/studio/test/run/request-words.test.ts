import type { StepRequest } from '@lastcall/client';
import { expect, test } from 'vitest';
import { partInWords, tokensInWords } from '../../src/pages/run/request-diff.ts';
import { toCurl } from '../../src/pages/run/to-curl.ts';

const REQUEST: StepRequest = {
  model: 'openai/gpt-5',
  instructions: "Don't guess.",
  settings: { temperature: 0, maxOutputTokens: 500, toolChoice: { type: 'required' } },
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Weather?' }] },
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: { city: 'Oslo' } }],
    },
    {
      role: 'tool',
      content: [
        { type: 'tool-result', toolCallId: 'c1', toolName: 'weather', output: { type: 'text', value: 'Rain' } },
      ],
    },
  ],
  tools: [{ type: 'function', name: 'weather', description: 'The weather.', inputSchema: { type: 'object' } }],
};

test('[S5] a request is copied as a command that a shell reads as it was written, without a key', () => {
  const command = toCurl(REQUEST);
  expect(command).toMatch(/^curl "\$MODEL_URL\/chat\/completions" \\\n {2}-H "authorization: Bearer \$MODEL_KEY"/);
  const written = /-d '(.*)'$/s.exec(command)?.[1]?.replaceAll("'\\''", "'") ?? '';
  expect(written).not.toBe('');
  expect(JSON.parse(written)).toEqual({
    temperature: 0,
    max_completion_tokens: 500,
    tool_choice: 'required',
    model: 'gpt-5',
    messages: [
      { role: 'system', content: "Don't guess." },
      { role: 'user', content: 'Weather?' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'Rain' },
    ],
    tools: [
      {
        type: 'function',
        function: { name: 'weather', description: 'The weather.', parameters: { type: 'object' } },
      },
    ],
  });
});

test('[S5] events for an agent are shown without the frame for the model, and parts have their size', () => {
  const text = '<inbox-hidden at="2026-11-17 21:40">\nSpace 1 (Desk):\nm1 Ada: Hello\n</inbox>';
  expect(partInWords({ type: 'text', text })).toEqual({
    label: 'what arrived, 2026-11-17 21:40',
    body: 'Space 1 (Desk):\nm1 Ada: Hello',
  });
  expect(partInWords({ type: 'text', text: 'Hello' })).toEqual({ label: 'text', body: 'Hello' });
  expect(tokensInWords('x'.repeat(4_001))).toBe('~1,001 tokens');
});
