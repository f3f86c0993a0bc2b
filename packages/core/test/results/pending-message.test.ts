import { expect, test } from 'vitest';
import { z } from 'zod';
import { dispatchCall, isToolResult, pending, tool } from '../../src/index.ts';

const waiting = (message?: string) =>
  tool({
    description: 'Waits.',
    inputSchema: z.object({}),
    execute: () => pending(message === undefined ? {} : { message }),
  });

test('for a pending call the model reads the message of the tool, or which call waits', async () => {
  const call = { toolName: 'wait', input: {}, callId: 'c1' };
  const said = await dispatchCall({ tools: { wait: waiting('{"status":"pending"}') }, call });
  expect(said.outcome).toMatchObject({ status: 'pending', text: '{"status":"pending"}' });
  const silent = await dispatchCall({ tools: { wait: waiting() }, call });
  expect(silent.outcome.text).toContain('c1');
});

test('only results made by this library are results', () => {
  expect(isToolResult(pending())).toBe(true);
  expect(isToolResult({ status: 'pending' })).toBe(false);
});
