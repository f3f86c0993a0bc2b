import { traceTurn } from '@lastcall/core/tracing';
import { runStream } from '../domain/streams/stream-names.ts';
import type { Services } from '../ports/services.ts';
import type { Lease } from './lease/lease.ts';
import { performRun } from './loops/perform-run.ts';
import type { ActiveRun } from './run/active-run.ts';
import type { EndedState } from './run/run-state.ts';
import { nextThread, type ThreadState } from './thread-state.ts';
import type { WorkerRegistry } from './toolset/registry.ts';

/** A thread that this worker holds. */
export interface ActiveThread {
  readonly lease: Lease;
  state: ThreadState;
}

/** Interrupts the current run, if there is one, and leaves it open. */
export function interruptRun({ state }: ActiveThread, reason: Error): void {
  if (state.kind === 'running') state.interrupt(reason);
}

/** Performs a run on the thread. A request to cancel the run aborts it, from any client or gateway. */
export async function runOnThread(
  services: Services,
  registry: WorkerRegistry,
  thread: ActiveThread,
  run: ActiveRun,
): Promise<EndedState> {
  const { runId, agent } = run;
  const controller = new AbortController();
  let isCancelled = false;
  const cancel = (): void => {
    isCancelled = true;
    controller.abort(new Error('The run was cancelled.'));
  };
  const interrupt = (reason: Error): void => controller.abort(reason);
  if (run.isCancelRequested) cancel();
  thread.state = nextThread(thread.state, { type: 'run-started', runId, cancel, interrupt });
  const unsubscribe = services.bus.subscribe(runStream(runId), ({ event }) => {
    if (event?.type === 'run.cancelling') cancel();
  });
  const abort = { signal: controller.signal, isCancelled: () => isCancelled, cancel, interrupt };
  const { redact = (text: string) => text } = registry;
  const traced = { agent: agent.name, agentId: agent.id, conversationId: run.lease.threadId, redact };
  try {
    return await traceTurn(traced, () => performRun(services, registry, run, abort));
  } finally {
    thread.state = nextThread(thread.state, { type: 'run-ended' });
    unsubscribe();
  }
}
