import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jsonSchema, pending, tool } from '@lastcall/core';
import { z } from 'zod';
import type { GatewayOptions } from '../../src/gateway.ts';
import { startTestGateway } from '../../src/testing/test-gateway.ts';

/** A gateway with the tools that the conformance suite calls by name, behind a proxy that adds the key: the suite sends none. */
export async function startConformanceGateway(): Promise<{ readonly url: string } & AsyncDisposable> {
  const gateway = await startTestGateway({ tools, tuning: { sweepMs: 100 } });
  const target = new URL(gateway.url);
  const proxy = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${gateway.secretKey}` };
    const { method, url: path } = incoming;
    const sent = request({ host: target.hostname, port: target.port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    sent.once('error', () => outgoing.destroy());
    outgoing.once('close', () => sent.destroy());
    incoming.pipe(sent);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections();
      proxy.close();
      await gateway.stop();
    },
  };
}

const nothing = z.object({});
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';

type Content = { type: 'text'; text: string } | { type: 'file'; mediaType: string; filename?: string; data: object };

/** A tool whose result has parts. */
function showing(description: string, ...value: Content[]): object {
  return {
    tool: {
      description,
      inputSchema: nothing,
      execute: async () => 'shown',
      toModelOutput: () => ({ type: 'content', value }),
    },
  };
}

const image: Content = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: PIXEL } };
const resource = (filename: string, mediaType: string, text: string): Content => ({
  type: 'file',
  mediaType,
  filename,
  data: { type: 'text', text },
});

const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

/** A tool whose calls wait for an answer of their caller. */
function asking(description: string, properties: object): object {
  return {
    description,
    executionType: 'space',
    inputSchema: { type: 'object', properties: { message: { type: 'string' } } },
    resultSchema: { type: 'object', properties },
  };
}

const logging = tool({
  description: 'Tells what it does.',
  inputSchema: nothing,
  execute: async (_input, ctx) => {
    for (const text of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      ctx.progress(text);
      await later();
    }
    return 'done';
  },
});

const choices = ['value1', 'value2', 'value3'].map((value, index) => ({ const: value, title: `Option ${index + 1}` }));
const words = ['option1', 'option2', 'option3'];

const tools = {
  test_simple_text: tool({
    description: 'Says a simple text.',
    inputSchema: nothing,
    execute: () => 'This is a simple text response for testing.',
  }),
  test_image_content: showing('Shows an image.', image),
  test_audio_content: showing('Plays a sound.', {
    type: 'file',
    mediaType: 'audio/wav',
    data: { type: 'data', data: WAV },
  }),
  test_embedded_resource: showing(
    'Shows a resource.',
    resource('embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ),
  test_multiple_content_types: showing(
    'Shows several things.',
    { type: 'text', text: 'Multiple content types test:' },
    image,
    resource('mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ),
  test_error_handling: tool({
    description: 'Fails.',
    inputSchema: nothing,
    execute: () => {
      throw new Error('This tool intentionally returns an error for testing');
    },
  }),
  test_tool_with_progress: tool({
    description: 'Reports progress.',
    inputSchema: nothing,
    execute: async (_input, ctx) => {
      for (const progress of [0, 50, 100]) {
        ctx.progress({ progress, total: 100 });
        await later();
      }
      return 'done';
    },
  }),
  test_tool_with_logging: logging,
  test_logging_tool: tool({ description: 'Tells little.', inputSchema: nothing, execute: () => 'done' }),
  test_elicitation: asking('Asks for data.', { username: { type: 'string' }, email: { type: 'string' } }),
  test_elicitation_sep1034_defaults: asking('Asks with defaults.', {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  }),
  test_input_required_result_elicitation: asking('Asks for a name.', { name: { type: 'string' } }),
  test_input_required_result_request_state: asking('Asks for a word.', { ok: { type: 'boolean' } }),
  test_input_required_result_tampered_state: asking('Asks for a word.', { ok: { type: 'boolean' } }),
  test_input_required_result_multi_round: tool({
    description: 'Asks twice: for approval, and for its result.',
    inputSchema: nothing,
    approval: true,
    execute: () => pending(),
  }),
  test_streaming_elicitation: asking('Asks for a word.', { ok: { type: 'boolean' } }),
  test_elicitation_sep1330_enums: asking('Asks for choices.', {
    untitledSingle: { type: 'string', enum: words },
    titledSingle: { type: 'string', oneOf: choices },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: words } },
    titledMulti: { type: 'array', items: { anyOf: choices } },
  }),
  json_schema_2020_12_tool: tool({
    description: 'Has a schema of 2020-12.',
    inputSchema: jsonSchema({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    }),
    execute: () => 'ok',
  }),
} as NonNullable<GatewayOptions['tools']>;
