import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { startTestGateway, waitFor } from '../../src/testing/index.ts';

interface OtlpSpan {
  readonly name: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { readonly key: string; readonly value: unknown }[];
}

interface OtlpRequest {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[] }[];
}

const SECRET = 'a-secret-of-the-bank';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** A collector that speaks OTLP over HTTP, and the SDK of a process that sends to it. */
async function collector({ isSilent = false } = {}) {
  const spans: OtlpSpan[] = [];
  let asked = 0;
  const server = createServer(async (request, response) => {
    asked++;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString()) as OtlpRequest;
    spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
    if (!isSilent) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: 500 });
  const processor = new BatchSpanProcessor(exporter, { scheduledDelayMillis: 10, exportTimeoutMillis: 500 });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [processor] }));
  closing.push(async () => {
    trace.disable();
    context.disable();
    server.closeAllConnections();
    server.close();
    await processor.shutdown().catch(() => undefined);
  });
  return { spans, asked: () => asked };
}

async function payOnce(tracing?: { readonly texts: boolean }) {
  const model = scriptedModel((_request, asked) =>
    asked === 1 ? { toolName: 'pay', input: { invoice: '4711' } } : 'It is paid.',
  );
  const pay = tool({
    description: 'Pays.',
    inputSchema: z.object({ invoice: z.string() }),
    execute: ({ invoice }) => `Paid ${invoice} with ${SECRET}.`,
  });
  const gateway = await startTestGateway({
    model,
    env: { BANK_KEY: SECRET },
    secrets: ['BANK_KEY'],
    tools: { pay },
    agents: [{ name: 'Clerk', instructions: 'Pay invoices.', tools: ['pay'] }],
    ...(tracing === undefined ? {} : { tracing }),
  });
  closing.push(() => gateway.stop());
  const { runId } = await gateway.api('/chat', { agent: 'Clerk', message: 'Please pay 4711.' });
  return { gateway, runId };
}

const attributesOf = (span: OtlpSpan | undefined): Record<string, unknown> =>
  Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value as object)[0]]));

const named = (spans: readonly OtlpSpan[], name: string) => spans.filter((span) => span.name === name);

test('[O12] a collector receives the spans of a run, by the GenAI conventions and without texts', async () => {
  const { spans } = await collector();
  await payOnce();
  await waitFor(async () => named(spans, 'invoke_agent Clerk').length > 0);
  const [root] = named(spans, 'invoke_agent Clerk');
  expect(named(spans, 'chat scripted')).toHaveLength(2);
  for (const span of [...named(spans, 'chat scripted'), ...named(spans, 'execute_tool pay')])
    expect(span.parentSpanId).toBe(root?.spanId);
  expect(attributesOf(root)).toMatchObject({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'Clerk',
    'gen_ai.conversation.id': expect.any(String),
  });
  expect(attributesOf(named(spans, 'chat scripted')[0])).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'scripted',
  });
  expect(attributesOf(named(spans, 'execute_tool pay')[0])).toMatchObject({ 'gen_ai.tool.name': 'pay' });
  for (const text of ['Pay invoices.', 'Please pay', '"invoice"', 'Paid 4711', 'It is paid.', SECRET])
    expect(JSON.stringify(spans)).not.toContain(text);
});

test('[O12] with `tracing: { texts: true }` it receives the texts too, without secrets', async () => {
  const { spans } = await collector();
  await payOnce({ texts: true });
  await waitFor(async () => named(spans, 'invoke_agent Clerk').length > 0);
  const recorded = JSON.stringify(spans);
  for (const text of ['Pay invoices.', 'Please pay 4711.', 'Paid 4711 with', 'It is paid.'])
    expect(recorded).toContain(text);
  expect(recorded).not.toContain(SECRET);
});

test('[O12] it receives the spans of a sub-agent, inside the call of its tool', async () => {
  const { spans } = await collector();
  const model = scriptedModel([[{ toolName: 'helper', input: { task: 'Help.' } }], 'Helped.', 'It is done.']);
  const helper = {
    executionType: 'internal' as const,
    description: 'Asks the helper.',
    inputSchema: { type: 'object', properties: { task: { type: 'string' } }, required: ['task'] },
    execution: { agentConfig: { instructions: 'You help.' } },
  };
  const gateway = await startTestGateway({
    model,
    tools: { helper },
    agents: [{ name: 'Boss', instructions: 'You are the boss.', tools: ['helper'] }],
  });
  closing.push(() => gateway.stop());
  await gateway.api('/chat', { agent: 'Boss', message: 'Go.' });
  await waitFor(async () => named(spans, 'invoke_agent Boss').length > 0);
  const [call] = named(spans, 'execute_tool helper');
  expect(named(spans, 'chat scripted').filter(({ parentSpanId }) => parentSpanId === call?.spanId)).toHaveLength(1);
  expect(named(spans, 'chat scripted')).toHaveLength(3);
});

test('[O13] a collector that never answers delays no run', async () => {
  const { asked } = await collector({ isSilent: true });
  const { gateway } = await payOnce();
  await waitFor(async () => asked() > 0);
  for (const message of ['Again.', 'And again.']) {
    const { response } = await gateway.api('/chat', { agent: 'Clerk', message });
    expect(response).toBe('It is paid.');
  }
});
