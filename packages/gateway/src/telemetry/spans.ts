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

/** The operations of OpenTelemetry's GenAI conventions that a gateway performs. */
type Operation = 'invoke_agent' | 'chat' | 'execute_tool';

export interface SpanSubject {
  readonly operation: Operation;
  /** The name of the agent, the model or the tool. It is part of the span's name. */
  readonly subject: string;
  /** Further attributes, e.g. `gen_ai.request.model`. They never hold texts of people, models or tools. */
  readonly attributes?: Attributes;
}

/**
 * Runs `work` in a span named by the GenAI conventions, e.g. `chat gpt-x`. The span ends with the work; an error is recorded and
 * rethrown. Without an OpenTelemetry SDK in the process this costs next to nothing.
 */
export async function inSpan<T>(
  { operation, subject, attributes = {} }: SpanSubject,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  if (!isTraced()) return await work(NO_OP_SPAN);
  const options = { kind: KIND[operation], attributes: { 'gen_ai.operation.name': operation, ...attributes } };
  return await tracer().startActiveSpan(`${operation} ${subject}`, options, async (span) => {
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

/** True if the process has an OpenTelemetry SDK. Without one, tracers are proxies for an SDK that may come later. */
export function isTraced(): boolean {
  return !(tracer() instanceof ProxyTracer);
}

/** A span that records nothing. */
const NO_OP_SPAN: Span = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

function tracer(): Tracer {
  return trace.getTracer('@lastcall/gateway');
}

/** The token usage of one model call. */
export function usageAttributes(usage: { readonly inputTokens?: number; readonly outputTokens?: number }): Attributes {
  return {
    ...(usage.inputTokens === undefined ? {} : { 'gen_ai.usage.input_tokens': usage.inputTokens }),
    ...(usage.outputTokens === undefined ? {} : { 'gen_ai.usage.output_tokens': usage.outputTokens }),
  };
}

// A model is reached over the network; an agent and a tool run in this process.
const KIND: Readonly<Record<Operation, SpanKind>> = {
  invoke_agent: SpanKind.INTERNAL,
  chat: SpanKind.CLIENT,
  execute_tool: SpanKind.INTERNAL,
};

function fail(span: Span, error: unknown): void {
  const { code, name, message } = (error ?? {}) as { code?: unknown; name?: unknown; message?: unknown };
  span.setAttribute('error.type', String(code ?? name ?? 'unknown'));
  span.setStatus({ code: SpanStatusCode.ERROR, message: String(message ?? error).slice(0, 1_000) });
}
