import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { isTraced, traceTurn, tracing } from '../../src/doors/tracing.ts';
import { fail, ok, runTurn, tool } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

const pay = tool({
  description: 'Pays.',
  inputSchema: z.object({ invoice: z.string() }),
  execute: ({ invoice }) => (invoice === '0' ? fail('There is no such invoice.') : `Paid ${invoice}.`),
});
const crash = tool({
  description: 'Crashes.',
  inputSchema: z.object({}),
  execute: () => {
    throw new TypeError('It broke.');
  },
});

const asking = (toolName: string, input: object) => scriptedModel([[{ toolName, input }], 'Done.']);

describe('[O12] spans of the library', () => {
  const exporter = new InMemorySpanExporter();
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  });
  afterAll(() => {
    trace.disable();
    context.disable();
  });
  beforeEach(() => exporter.reset());

  const spans = () => exporter.getFinishedSpans();
  const named = (name: string) => spans().find((span) => span.name === name);

  async function turn(options: { readonly texts?: boolean } = {}, model = asking('pay', { invoice: '4711' })) {
    return await traceTurn({ agent: 'Clerk', agentId: 'a1', conversationId: 'c1' }, () =>
      runTurn({
        model,
        instructions: 'Pay invoices.',
        prompt: 'Pay 4711.',
        tools: { pay, crash },
        middleware: [tracing(options)],
        modelSettings: { temperature: 0.5, maxOutputTokens: 100 },
      }),
    );
  }

  test('a turn is a span with one for each request to the model and each call inside', async () => {
    await turn();
    expect(spans().map(({ name }) => name)).toEqual([
      'chat scripted',
      'execute_tool pay',
      'chat scripted',
      'invoke_agent Clerk',
    ]);
    const root = named('invoke_agent Clerk');
    for (const span of spans().slice(0, -1)) expect(span.parentSpanContext?.spanId).toBe(root?.spanContext().spanId);
    expect(root?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'Clerk',
      'gen_ai.agent.id': 'a1',
      'gen_ai.conversation.id': 'c1',
    });
    expect(named('chat scripted')?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'lastcall',
      'gen_ai.request.model': 'scripted',
      'gen_ai.response.model': 'scripted',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.max_tokens': 100,
      'gen_ai.response.finish_reasons': ['tool-calls'],
    });
    expect(named('execute_tool pay')?.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'pay',
      'gen_ai.tool.type': 'function',
    });
  });

  test('have no texts', async () => {
    await turn();
    const recorded = JSON.stringify(spans().map(({ attributes }) => attributes));
    for (const text of ['Pay invoices.', 'Pay 4711', '"invoice"', 'Paid 4711', 'Done.'])
      expect(recorded).not.toContain(text);
  });

  test('have texts if an option says so, in the JSON of the conventions', async () => {
    await turn({ texts: true });
    const [first, call, second] = spans();
    expect(JSON.parse(String(first?.attributes['gen_ai.system_instructions']))).toEqual([
      { type: 'text', content: 'Pay invoices.' },
    ]);
    expect(JSON.parse(String(first?.attributes['gen_ai.input.messages']))).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'Pay 4711.' }] },
    ]);
    expect(JSON.parse(String(first?.attributes['gen_ai.output.messages']))).toMatchObject([
      { role: 'assistant', parts: [{ type: 'tool_call', name: 'pay' }], finish_reason: 'tool-calls' },
    ]);
    expect(String(first?.attributes['gen_ai.tool.definitions'])).toContain('"pay"');
    expect(call?.attributes).toMatchObject({
      'gen_ai.tool.call.arguments': '{"invoice":"4711"}',
      'gen_ai.tool.call.result': '"Paid 4711."',
    });
    expect(JSON.parse(String(second?.attributes['gen_ai.input.messages'])).at(-1)).toMatchObject({
      role: 'tool',
      parts: [{ type: 'tool_call_response' }],
    });
  });

  test.each([
    ['fails', asking('pay', { invoice: '0' }), 'execute_tool pay', 'There is no such invoice.'],
    ['throws', asking('crash', {}), 'execute_tool crash', 'It broke.'],
  ])('a tool that %s is an error', async (_how, model, name, message) => {
    await turn({}, model);
    expect(named(name)?.status).toMatchObject({ code: 2, message });
    expect(named(name)?.attributes['error.type']).toEqual(expect.any(String));
    expect(named('invoke_agent Clerk')?.status.code).toBe(0);
  });

  test('a value that JSON cannot hold does not fail a call', async () => {
    const odd = tool({ description: 'Returns odd values.', inputSchema: z.object({}), execute: () => ({ big: 1n }) });
    const model = asking('odd', {});
    await runTurn({ model, prompt: 'Go.', tools: { odd }, middleware: [tracing({ texts: true })] });
    expect(named('execute_tool odd')?.attributes['gen_ai.tool.call.result']).toBe('[object]');
  });

  const secret = tool({
    description: 'Returns a secret.',
    inputSchema: z.object({ key: z.string() }),
    execute: ({ key }) => ok({ [key]: 1, pin: 4711 }, `It is ${key}.`),
  });
  const withSecret = (redact: (text: string) => string) =>
    runTurn({
      model: asking('secret', { key: 'Bearer abc' }),
      instructions: 'Say "Bearer abc".',
      prompt: 'Go.',
      tools: { secret },
      middleware: [tracing({ texts: true, redact })],
    });
  const texts = () =>
    spans().flatMap(({ attributes }) =>
      Object.values(attributes).filter((value) => typeof value === 'string' && /^[[{]/.test(value)),
    ) as string[];

  test('secrets are removed from each text, and the result is still JSON', async () => {
    await withSecret((text) => text.replaceAll(/Bearer\s+\S+|4711/g, '[redacted]'));
    expect(texts().length).toBeGreaterThan(5);
    for (const text of texts()) expect(() => JSON.parse(text)).not.toThrow();
    expect(texts().join()).not.toMatch(/Bearer|4711/);
  });

  test('if secrets cannot be removed, nothing is recorded, and the turn continues', async () => {
    const broken = (): never => {
      throw new Error('No.');
    };
    expect((await withSecret(broken)).response).toBe('Done.');
    expect(spans()).toHaveLength(3);
    expect(JSON.stringify(spans().map(({ attributes, status }) => [attributes, status]))).not.toContain('Bearer');
  });

  test('files in messages and results are not recorded', async () => {
    const data = 'QUJD'.repeat(10);
    const file = { type: 'file' as const, data: { type: 'data' as const, data }, mediaType: 'image/png' };
    const output = { type: 'content' as const, value: [file] };
    const bytes = tool({
      description: 'Reads.',
      inputSchema: z.object({}),
      execute: () => ({ read: new Uint8Array(3) }),
    });
    await runTurn({
      model: asking('bytes', {}),
      messages: [
        { role: 'user', content: [file] },
        { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'show', input: {} }] },
        { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c', toolName: 'show', output }] },
      ],
      prompt: 'Go.',
      tools: { bytes },
      middleware: [tracing({ texts: true })],
    });
    expect(texts().join()).not.toContain(data);
    expect(texts().join()).toContain('image/png');
    expect(texts().join()).toContain('[3 bytes]');
  });

  test('an error that is not a text is rethrown unchanged', async () => {
    const error: unknown = Object.create(null);
    await expect(traceTurn({ agent: 'Clerk' }, () => Promise.reject(error))).rejects.toBe(error);
    expect(named('invoke_agent Clerk')?.status.code).toBe(2);
  });

  test('secrets are removed from the error of a turn', async () => {
    const redact = (text: string) => text.replace('abc', '[redacted]');
    const failing = traceTurn({ agent: 'Clerk', redact }, () => Promise.reject(new Error('The key abc is wrong.')));
    await expect(failing).rejects.toThrow('The key abc is wrong.');
    expect(named('invoke_agent Clerk')?.status.message).toBe('The key [redacted] is wrong.');
  });

  test('a turn that throws is an error, and the error is rethrown', async () => {
    const error = new TypeError('No.');
    await expect(traceTurn({ agent: 'Clerk' }, () => Promise.reject(error))).rejects.toBe(error);
    expect(named('invoke_agent Clerk')).toMatchObject({ status: { code: 2, message: 'No.' } });
    expect(named('invoke_agent Clerk')?.attributes['error.type']).toBe('TypeError');
  });

  test('an unknown option is refused', () => {
    expect(() => tracing({ recordInputs: true } as never)).toThrow(/"recordInputs".*"texts"/);
  });
});

test('[O12] without an SDK nothing is recorded, and everything runs', async () => {
  expect(isTraced()).toBe(false);
  const redacted: string[] = [];
  const redact = (text: string) => {
    redacted.push(text);
    return text;
  };
  const model = asking('pay', { invoice: '1' });
  const result = await traceTurn({ agent: 'Clerk' }, () =>
    runTurn({ model, prompt: 'Pay.', tools: { pay }, middleware: [tracing({ texts: true, redact })] }),
  );
  expect(result.response).toBe('Done.');
  expect(redacted).toEqual([]);
});
