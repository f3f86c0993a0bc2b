import type { Outcome, Run, RunEntry } from '@lastcall/client';

const USAGE = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };

/** A transcript, written by hand. */
export function transcript(): {
  readonly entries: RunEntry[];
  /** A reply with these calls. It began and ended at the given times. */
  reply(step: number, [from, to]: readonly [number, number], calls?: readonly string[], text?: string): void;
  start(callId: string, at: number): void;
  /** `callId` is the name of its tool, a dot, and a number. */
  settle(callId: string, [from, to]: readonly [number, number], outcome?: Partial<Outcome> & object): void;
  wait(callId: string, at: number): void;
  add(entry: RunEntry['entry'], at: number): void;
} {
  const entries: RunEntry[] = [];
  const add = (entry: RunEntry['entry'], at: number, more: Partial<RunEntry> = {}): void => {
    entries.push({ seq: entries.length + 1, kind: entry.kind, at, entry, ...more });
  };
  const toolOf = (callId: string): string => callId.split('.')[0] ?? '';
  return {
    entries,
    add: (entry, at) => add(entry, at),
    reply(step, [startedAt, endedAt], calls = [], text = '') {
      const asked = calls.map((callId) => ({ callId, toolName: toolOf(callId), input: `{"id":"${callId}"}` }));
      add(
        {
          kind: 'reply',
          step,
          content: [],
          calls: asked,
          text,
          finishReason: 'stop',
          usage: USAGE,
          startedAt,
          endedAt,
        },
        endedAt,
      );
    },
    start: (callId, at) => add({ kind: 'started', callId }, at),
    settle(callId, [startedAt, endedAt], outcome = {}) {
      const whole = { status: 'ok', text: 'fine', ...outcome } as Outcome;
      const settlement = {
        callId,
        toolName: toolOf(callId),
        input: { id: callId },
        outcome: whole,
        startedAt,
        endedAt,
      };
      add({ kind: 'settled', settlement }, endedAt);
    },
    wait(callId, at) {
      const outcome = { status: 'pending', kind: 'result', text: 'pending' } as Outcome;
      add(
        { kind: 'pending', settlement: { callId, toolName: toolOf(callId), outcome, startedAt: at, endedAt: at } },
        at,
      );
    },
  };
}

export function aRun(given: Partial<Run> = {}): Run {
  return {
    id: 'run',
    agentId: 'agent',
    threadId: 'agent',
    number: 1,
    status: 'completed',
    trigger: [],
    stop: { reason: 'end_turn', by: 'text' },
    configVersion: 1,
    attempt: 1,
    counts: { ok: 0, error: 0, cancelled: 0, skipped: 0, waiting: 0, denied: 0, expired: 0, unknown: 0, running: 0 },
    createdAt: 0,
    endedAt: 1_000,
    ...given,
  };
}
