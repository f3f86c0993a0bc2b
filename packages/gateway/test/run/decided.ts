import type { Entry, Settlement } from '@lastcall/core';
import { decide } from '../../src/runtime/run/decide.ts';
import type { DecisionContext } from '../../src/runtime/run/decision.ts';
import type { RunEvent } from '../../src/runtime/run/run-event.ts';
import { type RunningState, type RunState, startState } from '../../src/runtime/run/run-state.ts';
import type { Write } from '../../src/runtime/run/run-write.ts';
import { serializeEnd } from '../../src/runtime/run/settlement-json.ts';

const context: DecisionContext = {
  runId: 'run',
  agent: { entityId: 'bot' },
  isVisible: (toolName) => toolName === 'shown',
  showsWait: (toolName) => toolName === 'shown',
  isPostable: (toolName) => toolName !== 'send_message',
  endsRun: ({ toolName }) => toolName === 'report',
};

/** An agent in the space "hall", whose run begins. */
export const inHall: RunningState = startState({ nextSeq: 7, activeSpaceId: 'hall', announcedSpaceId: 'hall' });

export const nowhere: RunningState = startState({ nextSeq: 7, activeSpaceId: null, announcedSpaceId: null });

export interface Decided {
  readonly state: RunState;
  /** Of all events. */
  readonly writes: readonly Write[];
  /** Of the last event. */
  readonly last: readonly Write[];
}

export function decided(start: RunState, ...events: readonly RunEvent[]): Decided {
  let state = start;
  let last: readonly Write[] = [];
  const writes: Write[] = [];
  for (const event of events) {
    [state, last] = decide(state, event, context);
    writes.push(...last);
  }
  return { state, writes, last };
}

export const started = (callId: string, toolName: string): RunEvent => ({ type: 'input-started', callId, toolName });
export const wrote = (callId: string, delta: string, text = ''): RunEvent => ({
  type: 'input-extended',
  callId,
  delta,
  text,
});
export const runs = (callId: string, { spaceId = 'hall', toolName = 'shown', rawInput = '{}' } = {}): RunEvent => ({
  type: 'call-started',
  callId,
  toolName,
  spaceId,
  input: {},
  rawInput,
});

export function appended(entry: Exclude<Entry, { kind: 'stop' }>): RunEvent {
  return { type: 'entry-appended', entry, payload: JSON.stringify({ entry }) };
}

type RequestedCall = Extract<Entry, { kind: 'reply' }>['calls'][number];

export function reply(...calls: readonly RequestedCall[]): Extract<Entry, { kind: 'reply' }> {
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
  return { kind: 'reply', step: 2, content: [], calls, text: '', finishReason: 'tool-calls', usage };
}

export function ended(
  outcome: Settlement['outcome'],
  { toolName = 'shown', input = {} as unknown, hasStagedWrites = false, callId = 'c' } = {},
): Extract<RunEvent, { type: 'call-ended' }> {
  const settlement: Settlement = { callId, toolName, input, outcome, startedAt: 1, endedAt: 2 };
  const entry = { kind: outcome.status === 'pending' ? 'pending' : 'settled', settlement } as const;
  const details = { slices: {}, fullOutcome: outcome };
  return { type: 'call-ended', ...serializeEnd(entry, details), rawInput: '{}', hasStagedWrites };
}

export const OK: Settlement['outcome'] = { status: 'ok', value: 1, text: '1' };
export const ERROR: Settlement['outcome'] = { status: 'error', code: 'execution', message: 'No.', text: 'No.' };

/** The kinds of writes, and of stream events their stream and type. */
export function kinds(writes: readonly Write[]): string[] {
  return writes.map((write) => {
    if (write.kind === 'space-event') return `${write.spaceId} ${write.type}`;
    return write.kind === 'run-event' ? `run ${write.type}` : write.kind;
  });
}
