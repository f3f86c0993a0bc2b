import {
  type Attributes,
  INVALID_SPAN_CONTEXT,
  ProxyTracer,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { hideFrameIds } from './hide-tag.ts';

/** The operations of the GenAI conventions that a gateway performs. */
type Operation = 'invoke_agent' | 'chat' | 'execute_tool';

export interface SpanSubject {
  readonly operation: Operation;
  /** The agent, the model or the tool: part of the span's name. */
  readonly of: string;
  /** Further attributes, e.g. `gen_ai.request.model`. Never texts of people, models or tools. */
  readonly attributes?: Attributes;
}

/**
 * Runs `work` in a span named by the GenAI conventions, `chat gpt-x`. It ends with the work; what the work throws is recorded and
 * thrown on. Without an OpenTelemetry SDK in the process it costs next to nothing.
 */
export async function inSpan<T>(
  { operation, of, attributes = {} }: SpanSubject,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  if (!isTraced()) return await work(NOBODYS);
  const options = { kind: KIND[operation], attributes: { 'gen_ai.operation.name': operation, ...attributes } };
  return await tracer().startActiveSpan(`${operation} ${of}`, options, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      fail(span, error);
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Whether an OpenTelemetry SDK is in the process: where none is, tracers only stand for those of one that may come. */
export function isTraced(): boolean {
  return !(tracer() instanceof ProxyTracer);
}

/** Takes everything and keeps nothing. */
const NOBODYS: Span = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

function tracer(): Tracer {
  return trace.getTracer('@lastcall/gateway');
}

/** Of one call of a model. */
export function usageAttributes(usage: { readonly inputTokens?: number; readonly outputTokens?: number }): Attributes {
  return {
    ...(usage.inputTokens === undefined ? {} : { 'gen_ai.usage.input_tokens': usage.inputTokens }),
    ...(usage.outputTokens === undefined ? {} : { 'gen_ai.usage.output_tokens': usage.outputTokens }),
  };
}

// A model and a tool are reached over a boundary of the process, an agent is not.
const KIND: Readonly<Record<Operation, SpanKind>> = {
  invoke_agent: SpanKind.INTERNAL,
  chat: SpanKind.CLIENT,
  execute_tool: SpanKind.INTERNAL,
};

function fail(span: Span, error: unknown): void {
  const { code, name, message } = (error ?? {}) as { code?: unknown; name?: unknown; message?: unknown };
  span.setAttribute('error.type', String(code ?? name ?? 'unknown'));
  span.setStatus({ code: SpanStatusCode.ERROR, message: hideFrameIds(String(message ?? error)).slice(0, 1_000) });
}
