// The public door of @lastcall/core/tracing: spans for OpenTelemetry. It needs the package @opentelemetry/api.

export { isTraced } from '../tracing/spans.ts';
export { type TracingOptions, type TurnSubject, traceTurn, tracing } from '../tracing/tracing.ts';
