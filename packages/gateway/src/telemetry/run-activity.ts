import type { Logger, TurnEvent } from '@lastcall/core';

interface ObservedRun {
  readonly runId: string;
  readonly number: number;
  readonly agent: { readonly id: string; readonly config: { readonly name: string } };
}

/** Logs one line per call of a run and one at its end, each with its outcome and duration. */
export class RunActivity {
  readonly #logger: Logger;
  readonly #ids: { readonly agent: string; readonly agentId: string; readonly runId: string; readonly run: number };
  readonly #startedAt = performance.now();
  /** The number of calls by outcome. */
  readonly #calls: Record<string, number> = {};

  constructor(logger: Logger, { runId, number, agent }: ObservedRun) {
    this.#logger = logger;
    this.#ids = { agent: agent.config.name, agentId: agent.id, runId, run: number };
  }

  onEvent(event: TurnEvent): void {
    if (!('outcome' in event)) return;
    const { callId, toolName, outcome, startedAt, endedAt } = event;
    const { status } = outcome;
    this.#calls[status] = (this.#calls[status] ?? 0) + 1;
    this.#logger.info('Call', {
      event: 'call',
      ...this.#ids,
      callId,
      toolName,
      outcome: status,
      ...(outcome.status === 'error' ? { code: outcome.code, message: clip(outcome.message) } : {}),
      ...('reason' in outcome ? { message: clip(outcome.reason) } : {}),
      durationMs: Math.round(endedAt - startedAt),
    });
  }

  end(status: string): void {
    const durationMs = Math.round(performance.now() - this.#startedAt);
    this.#logger.info('Run', { event: 'run', ...this.#ids, outcome: status, calls: this.#calls, durationMs });
  }
}

function clip(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** Longer texts are cut, so that a log line can be read at a glance. The transcript has the rest. */
const LONGEST = 500;
