import type { Kysely } from 'kysely';
import type { WaitingCall } from '../../domain/calls/waiting-call.ts';
import { waitingIn } from '../../domain/conversations/asked-calls.ts';
import { type RunAnswer, runDeleted } from '../../domain/conversations/run-answer.ts';
import type { StreamEvent } from '../../ports/bus/bus.ts';
import type { Services } from '../../ports/services.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { awaitRun } from './await-run.ts';
import { runEvents } from './run-events.ts';

/** The state of a turn: its last run, and the waiting calls if that run was suspended. */
export interface TurnState {
  readonly answer: RunAnswer;
  readonly waiting: readonly WaitingCall[];
}

interface FollowOptions {
  readonly signal: AbortSignal;
  readonly onEvent?: ((event: StreamEvent) => void) | undefined;
  /** True for calls that are answered elsewhere. The turn is followed until they are. */
  readonly isAnsweredElsewhere: (call: WaitingCall) => boolean;
}

/**
 * Waits for the end of a turn, including the runs that continue it after answers from elsewhere, or until a call waits
 * for our caller.
 */
export async function followTurn(services: Services, runId: string, options: FollowOptions): Promise<TurnState> {
  const { signal, onEvent, isAnsweredElsewhere } = options;
  for (let current = runId; ; ) {
    if (onEvent !== undefined) for await (const event of runEvents(services, current, { signal })) onEvent(event);
    const answer = await awaitRun(services, current, { signals: [signal] });
    if (answer.stop.reason !== 'suspended') return { answer, waiting: [] };
    const waiting = await waitingIn(services.store.db, answer.contextId);
    if (!waiting.every(isAnsweredElsewhere)) return { answer, waiting };
    current = await nextRun(services, answer, signal);
  }
}

/**
 * Waits for the run that continues a suspended turn. Its calls are answered elsewhere, or were answered a moment ago.
 * Throws 404 if the conversation is deleted meanwhile.
 */
async function nextRun({ store, limits }: Services, { runId }: RunAnswer, signal: AbortSignal): Promise<string> {
  for (;;) {
    signal.throwIfAborted();
    const suspended = await findNext(store.db, runId);
    if (suspended === undefined) throw runDeleted(runId);
    if (suspended.next !== null) return suspended.next;
    await pause(limits.sweepMs, signal);
  }
}

/** The first later run of the conversation that took an answer. Undefined if the suspended run is deleted. */
export async function findNext(
  db: Kysely<Tables>,
  runId: string,
): Promise<{ readonly next: string | null } | undefined> {
  return await db
    .selectFrom('runs as suspended')
    .select(({ selectFrom }) =>
      selectFrom('runs')
        .select('runs.id')
        .whereRef('runs.thread_id', '=', 'suspended.thread_id')
        .whereRef('runs.number', '>', 'suspended.number')
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('inbox_events')
              .select('inbox_events.id')
              .whereRef('inbox_events.run_id', '=', 'runs.id')
              .where('inbox_events.type', '=', 'tool_result'),
          ),
        )
        .orderBy('runs.number')
        .limit(1)
        .as('next'),
    )
    .where('suspended.id', '=', runId)
    .executeTakeFirst();
}

/**
 * The store is polled, because no event is emitted when a run begins in a conversation. A turn that waits for people can
 * also wait for the next poll.
 */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
}
