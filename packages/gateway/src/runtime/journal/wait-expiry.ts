import { fromJson, toJson, withJsonField } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { WaitWrite, Write } from '../run/run-write.ts';
import type { ApplyContext } from './apply-context.ts';

/**
 * Says in all writes of a waiting call when it expires, by the clock of the database: that clock ends the call, and the clock of a worker may
 * differ from it.
 */
export function withExpiry(context: ApplyContext, tx: Tx, writes: readonly Write[]): readonly Write[] {
  const waits = writes.filter((write) => write.kind === 'pending-call');
  if (waits.length === 0) return writes;
  const expiries = new Map(waits.map((wait) => [wait.call.callId, expiryOf(context, tx, wait)]));
  return writes.map((write) => expireAt(write, expiries));
}

function expiryOf({ run, clock, questions, toolNamed }: ApplyContext, tx: Tx, { call }: WaitWrite): number | undefined {
  const { callId, toolName, kind, expiresAt } = call;
  // Until when a call of a fork waits does not depend on a tool.
  const question = kind === 'input' && run.fork === undefined ? questions.of(callId) : undefined;
  const { expiresInMs: usualMs = toolNamed(toolName)?.expiresInMs } = question ?? {};
  const expiresInMs = expiresAt === undefined ? usualMs : expiresAt - clock.now();
  return expiresInMs === undefined ? undefined : tx.now() + expiresInMs;
}

function expireAt(write: Write, expiries: ReadonlyMap<string, number | undefined>): Write {
  switch (write.kind) {
    case 'pending-call':
      return { ...write, call: { ...write.call, expiresAt: expiries.get(write.call.callId) } };
    case 'call-ended': {
      const expiresAt = expiries.get(write.callId);
      return expiresAt === undefined ? write : { ...write, outcome: withTime(write.outcome, expiresAt) };
    }
    case 'run-event': {
      const expiresAt = expiries.get(write.callId);
      if (expiresAt === undefined) return write;
      const event = fromJson<{ outcome: object }>(write.json);
      return { ...write, json: toJson({ ...event, outcome: { ...event.outcome, expiresAt } }) };
    }
    default:
      return write;
  }
}

function withTime(outcome: string, expiresAt: number): string {
  return withJsonField(outcome, 'expiresAt', toJson(expiresAt));
}
