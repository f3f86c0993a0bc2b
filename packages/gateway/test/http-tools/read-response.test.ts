import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { readResponse } from '../../src/runtime/tools/http/read-response.ts';
import { KnownSecrets } from '../../src/telemetry/known-secrets.ts';

const SECRET = 'sk-live_0123456789+/abcdef';
const known = new KnownSecrets([SECRET]);

/** A body in chunks, as from a socket. */
function bodyOf(text: string): Readable {
  const bytes = Buffer.from(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, index) =>
    bytes.subarray(index * 65_536, (index + 1) * 65_536),
  );
  return Readable.from(pieces);
}

const read = (text: string, contentType: string): Promise<unknown> =>
  readResponse({ body: bodyOf(text), contentType }, known);

test('[X7] secrets are removed from text and JSON before these are cut', async () => {
  expect(await read(`a ${SECRET} b`, 'text/plain')).toBe('a [redacted] b');
  expect(await read(JSON.stringify({ a: [SECRET] }), 'application/json')).toEqual({ a: ['[redacted]'] });
  expect(await read(`{"broken": "${SECRET}"`, 'application/json')).toBe('{"broken": "[redacted]"');
});

test('[X7] a response with only secrets is cut without leaving a part of one at its end', async () => {
  const text = String(await read(SECRET.repeat(60_000), 'text/plain'));
  // The cut may be inside a `[redacted]`.
  expect(text.replaceAll('[redacted]', '')).toMatch(/^(?:\[[redact]*)?\n\[cut: the response was longer than 1 MiB\]$/);
});

test.each([0, 200_000])(
  '[X7] [X9] no part of a secret that begins before the limit and ends after it is left, with %d more',
  async (more) => {
    const text = String(await read(`${'x'.repeat(1_048_576 - 10)}${SECRET}${'y'.repeat(more)}`, 'text/plain'));
    expect(text.length).toBeGreaterThan(1_048_000);
    expect(text.slice(1_048_000)).toMatch(/^x+(\[redacted\])?\n\[cut: the response was longer than 1 MiB\]$/);
  },
);

test('[X9] a response of exactly the limit is complete', async () => {
  expect(String(await read('x'.repeat(1_048_576), 'text/plain')).length).toBe(1_048_576);
  expect(String(await read('x'.repeat(1_048_577), 'text/plain')).slice(1_048_575)).toMatch(/^x\n\[cut/);
});

test('a body that breaks off is an error, and not a shorter response', async () => {
  const body = new Readable({ read() {} });
  const reading = readResponse({ body, contentType: 'text/plain' }, known);
  body.push('beginning');
  body.destroy();
  await expect(reading).rejects.toThrow('broke off');
});

test('[X9] [T19] JSON with a number that cannot be read exactly stays the text that was sent, unless a schema reads it', async () => {
  const text = '{"id":1234567890123456789}';
  expect(await read(text, 'application/json')).toBe(text);
  const checked = { body: bodyOf(text), contentType: 'application/json', hasSchema: true };
  expect(await readResponse(checked, known)).toEqual({ id: 1234567890123456800 });
  expect(await read('{"id":1}', 'application/json')).toEqual({ id: 1 });
});
