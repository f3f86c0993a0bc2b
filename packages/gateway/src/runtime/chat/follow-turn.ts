import type { RunAnswer } from '../../domain/contexts/run-answer.ts';
import { IS_PENDING } from '../../domain/pending/is-pending.ts';
import { type PendingCall, toPendingCall } from '../../domain/pending/pending-call.ts';
import type { StreamEvent } from '../../ports/bus/bus.ts';
import type { Services } from '../../ports/services.ts';
import { awaitRun } from './await-run.ts';
import { runEvents } from './run-events.ts';

/** How far a turn has come: its last run, and the calls that wait, if that run was suspended by them. */
export interface TurnState {
  readonly answer: RunAnswer;
  readonly waiting: readonly PendingCall[];
}

interface FollowOptions {
  readonly signal: AbortSignal;
  readonly onEvent?: ((event: StreamEvent) => void) | undefined;
  /** True for calls that somebody else will answer: the turn is followed until that has happened. */
  readonly isAnsweredElsewhere: (call: PendingCall) => boolean;
}

/** Waits for the end of a turn, over the runs that answers of others continue it in, or until a call waits for our caller. */
export async function followTurn(services: Services, runId: string, options: FollowOptions): Promise<TurnState> {
  const { signal, onEvent, isAnsweredElsewhere } = options;
  for (let current = runId; ; ) {
    if (onEvent !== undefined) for await (const event of runEvents(services, current, { signal })) onEvent(event);
    const answer = await awaitRun(services, current, { signals: [signal] });
    if (answer.stop.reason !== 'suspended') return { answer, waiting: [] };
    const waiting = await waitingCalls(services, answer.contextId);
    if (!waiting.every(isAnsweredElsewhere)) return { answer, waiting };
    current = await nextRun(services, answer, signal);
  }
}

/** All calls of the context that wait. Those of an earlier run may still do so when a later one has ended. */
async function waitingCalls({ store }: Services, contextId: string): Promise<readonly PendingCall[]> {
  const rows = await store.db
    .selectFrom('calls')
    .selectAll()
    .where('thread_id', '=', contextId)
    .where(IS_PENDING)
    .orderBy('id')
    .execute();
  return rows.map(toPendingCall);
}

/** Waits for the run that continues a suspended turn: its calls are answered by others, or were a moment ago. */
async function nextRun(
  { store, limits }: Services,
  { runId, contextId }: RunAnswer,
  signal: AbortSignal,
): Promise<string> {
  for (;;) {
    signal.throwIfAborted();
    const next = await store.db
      .selectFrom('inbox_events')
      .innerJoin('runs', 'runs.id', 'inbox_events.run_id')
      .select('runs.id')
      .where('inbox_events.thread_id', '=', contextId)
      .where('inbox_events.type', '=', 'tool_result')
      .where('runs.cycle_no', '>', (eb) =>
        eb.selectFrom('runs as suspended').select('suspended.cycle_no').where('suspended.id', '=', runId),
      )
      .orderBy('runs.cycle_no')
      .limit(1)
      .executeTakeFirst();
    if (next !== undefined) return next.id;
    await pause(limits.sweepMs, signal);
  }
}

/** Nothing tells of a run that begins in a context. Whoever waits for people can wait for a look at the store. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
}
