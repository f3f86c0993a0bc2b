import { expect, test } from 'vitest';
import { joinedMessages } from '../../src/runtime/tools/mcp/process-output.ts';

function passedOn(chunks: readonly string[], longest?: number): string[] {
  const passed: string[] = [];
  const join = joinedMessages((bytes) => passed.push(bytes.toString()), longest);
  for (const chunk of chunks) join(Buffer.from(chunk));
  return passed;
}

test('a message in many chunks is joined once, when its end has arrived', () => {
  expect(passedOn(['{"a":', '1', '}\n{"b"', ':2}', '\n'])).toEqual(['{"a":1}\n{"b"', ':2}\n']);
});

test('a message in one chunk is passed on unchanged', () => {
  const chunk = Buffer.from('{}\n');
  let passed: Buffer | undefined;
  joinedMessages((bytes) => {
    passed = bytes;
  })(chunk);
  expect(passed).toBe(chunk);
});

test('a message that is too long is passed on without its end, so that the client refuses it', () => {
  expect(passedOn(['aaaa', 'bbbb', 'cc'], 7)).toEqual(['aaaabbbb']);
});
