import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The metrics of one gateway. Each gateway has its own registry, so that two gateways in one process do not mix. */
export interface Metrics {
  /** Returns the text of `/metrics`. */
  render(): Promise<string>;
  readonly contentType: string;
  httpRequest(request: { method: string; route: string; status: number; seconds: number }): void;
  /** Counts a run that ended. */
  run(ended: { status: 'completed' | 'failed' | 'cancelled'; seconds: number }): void;
  /** Counts a settled tool call. `tool` is the name of a configured tool or a fixed word, so the number of labels is bounded. */
  call(settled: { tool: string; outcome: CallOutcome; seconds: number }): void;
  /** Counts the tokens that a model read and wrote. */
  tokens(used: { model: string; input: number; cached: number; output: number; isEstimated: boolean }): void;
  /** Counts a spend limit that was reached, once a day for each agent, person or project. */
  limitReached(limit: { scope: 'agent' | 'person' | 'project' }): void;
  /** Counts an attempt to send a notification. */
  notification(attempt: {
    channel: 'webhook' | 'email' | 'slack';
    outcome: 'sent' | 'retried' | 'failed' | 'obsolete';
  }): void;
  /** Records how long an event waited before a run took it. */
  inboxLag(seconds: number): void;
  streamOpened(): void;
  streamClosed(why: StreamEnd): void;
  /** Adds a value that is read when the metrics are rendered, e.g. the number of current runs. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void;
}

type CallOutcome = 'ok' | 'error' | 'cancelled' | 'skipped' | 'pending';
export type StreamEnd = 'done' | 'client' | 'slow' | 'access' | 'stop' | 'error';

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Histogram({
    name: 'lastcall_http_request_seconds',
    help: 'HTTP requests by route and status, until the response began.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  });
  const runs = new Histogram({
    name: 'lastcall_run_seconds',
    help: 'Runs of agents by how they ended.',
    labelNames: ['status'],
    buckets: [0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300],
    registers,
  });
  const calls = new Histogram({
    name: 'lastcall_call_seconds',
    help: 'Tool calls by tool and outcome.',
    labelNames: ['tool', 'outcome'],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers,
  });
  const tokens = new Counter({
    name: 'lastcall_tokens_total',
    help: 'Tokens that models read and wrote.',
    labelNames: ['model', 'direction'],
    registers,
  });
  const cached = new Counter({
    name: 'lastcall_cached_tokens_total',
    help: 'Of the input tokens, those that providers read from their caches.',
    labelNames: ['model'],
    registers,
  });
  const estimated = new Counter({
    name: 'lastcall_estimated_replies_total',
    help: 'Replies whose provider counted no tokens, so that the gateway estimated them.',
    labelNames: ['model'],
    registers,
  });
  const limits = new Counter({
    name: 'lastcall_spend_limits_reached_total',
    help: 'Spend limits that were reached, once a day for each agent, person or project.',
    labelNames: ['scope'],
    registers,
  });
  const notifications = new Counter({
    name: 'lastcall_notifications_total',
    help: 'Attempts to send notifications, by channel and outcome.',
    labelNames: ['channel', 'outcome'],
    registers,
  });
  const lag = new Histogram({
    name: 'lastcall_inbox_lag_seconds',
    help: 'How long events waited before a run took them.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 300],
    registers,
  });
  const open = new Gauge({ name: 'lastcall_open_streams', help: 'Streams open now.', registers });
  const closed = new Counter({
    name: 'lastcall_streams_closed_total',
    help: 'Streams that ended, by reason.',
    labelNames: ['why'],
    registers,
  });
  return {
    render: () => registry.metrics(),
    contentType: registry.contentType,
    httpRequest: ({ method, route, status, seconds }) => requests.observe({ method, route, status }, seconds),
    run: ({ status, seconds }) => runs.observe({ status }, seconds),
    call: ({ tool, outcome, seconds }) => calls.observe({ tool, outcome }, seconds),
    tokens({ model, input, cached: fromCache, output, isEstimated }) {
      tokens.inc({ model, direction: 'input' }, input);
      tokens.inc({ model, direction: 'output' }, output);
      if (fromCache > 0) cached.inc({ model }, fromCache);
      if (isEstimated) estimated.inc({ model });
    },
    limitReached: ({ scope }) => limits.inc({ scope }),
    notification: ({ channel, outcome }) => notifications.inc({ channel, outcome }),
    inboxLag: (seconds) => lag.observe(seconds),
    streamOpened: () => open.inc(),
    streamClosed(why) {
      open.dec();
      closed.inc({ why });
    },
    gauge(name, help, read) {
      registry.registerMetric(
        new Gauge({
          name,
          help,
          registers: [],
          async collect() {
            this.set(await read());
          },
        }),
      );
    },
  };
}
