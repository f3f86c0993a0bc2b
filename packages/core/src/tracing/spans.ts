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
import type { RedactText } from './recorded-json.ts';

/** The operations of OpenTelemetry's GenAI conventions that are performed here. */
type Operation = 'invoke_agent' | 'chat' | 'execute_tool';

export interface SpanSubject {
  readonly operation: Operation;
  /** The name of the agent, the model or the tool. It is part of the span's name. */
  readonly subject: string;
  /** Further attributes, e.g. `gen_ai.request.model`. Called only if there is a span. */
  readonly attributes: () => Attributes;
  /** Default: that of the process. */
  readonly tracer?: Tracer | undefined;
  /** Removes secrets from the message of an error. */
  readonly redact?: RedactText | undefined;
}

/**
 * Runs `work` in a span named by the GenAI conventions, e.g. `chat gpt-x`. The span ends with the work; an error is recorded and
 * rethrown. Without an OpenTelemetry SDK in the process this costs next to nothing.
 */
export async function inSpan<T>(
  { operation, subject, attributes, tracer = processTracer(), redact = (text) => text }: SpanSubject,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  if (tracer instanceof ProxyTracer) return await work(NO_OP_SPAN);
  const options = { kind: KIND[operation], attributes: { 'gen_ai.operation.name': operation, ...attributes() } };
  return await tracer.startActiveSpan(`${operation} ${subject}`, options, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      record(span, () => failSpan(span, toFailure(error, redact)));
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Records something of the work. If that throws, it is not recorded: tracing must not fail the work. */
export function record(span: Span, write: () => void): void {
  if (!span.isRecording()) return;
  try {
    write();
  } catch {
    // A text whose secrets could not be removed is left out.
  }
}

/** Records that the work of a span failed. */
export function failSpan(span: Span, { type, message }: Failure): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR, message: message().slice(0, 1_000) });
}

interface Failure {
  readonly type: string;
  readonly message: () => string;
}

function toFailure(error: unknown, redact: RedactText): Failure {
  const { code, name, message } = (error ?? {}) as { code?: unknown; name?: unknown; message?: unknown };
  return { type: String(code ?? name ?? 'unknown'), message: () => redact(String(message ?? error)) };
}

/** True if the process has an OpenTelemetry SDK. Without one, tracers are proxies for an SDK that may come later. */
export function isTraced(): boolean {
  return !(processTracer() instanceof ProxyTracer);
}

/** A span that records nothing. */
const NO_OP_SPAN: Span = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

function processTracer(): Tracer {
  return trace.getTracer('@lastcall/core');
}

// A model is reached over the network; an agent and a tool run in this process.
const KIND: Readonly<Record<Operation, SpanKind>> = {
  invoke_agent: SpanKind.INTERNAL,
  chat: SpanKind.CLIENT,
  execute_tool: SpanKind.INTERNAL,
};
