import { runChannel } from '../domain/streams/channels.ts';
import type { Services } from '../ports/services.ts';
import { inSpan } from '../telemetry/spans.ts';
import type { ClaimedCycle } from './claim/next-cycle.ts';
import type { Lease } from './lease/lease.ts';
import { runCycle } from './loops/run-cycle.ts';
import type { Cycle } from './run/cycle.ts';
import type { EndedCycle } from './run/cycle-state.ts';
import type { WorkerRegistry } from './toolset/registry.ts';

/** A thread that this worker holds. */
export interface ActiveThread {
  readonly lease: Lease;
  /** The cycle that was claimed together with the thread. It is undefined once it runs. */
  claimedCycle: Cycle | undefined;
  /** Aborts the running cycle. */
  abort: AbortController;
  /** The running run, if there is one, and how to cancel it. */
  running: { readonly runId: string; readonly cancel: () => void } | undefined;
  /** The last run that was worked on. */
  runId: string | undefined;
  /** The thread was woken while it was held: the worker looks for work again after releasing it. */
  wokenAgain: boolean;
  /** A person waits for that work. */
  isUrgent: boolean;
  /** It is unknown whether the last transaction was committed. It may have released the thread. */
  isCommitUnknown: boolean;
  readonly done: Promise<void>;
}

export function createActiveThread({ lease, cycle }: ClaimedCycle, done: Promise<void>): ActiveThread {
  return {
    lease,
    claimedCycle: cycle,
    abort: new AbortController(),
    running: undefined,
    runId: undefined,
    wokenAgain: false,
    isUrgent: false,
    isCommitUnknown: false,
    done,
  };
}

/** Runs a cycle on the thread. A request to cancel the run aborts it, from any client or gateway. */
export async function runOnThread(
  services: Services,
  registry: WorkerRegistry,
  thread: ActiveThread,
  cycle: Cycle,
): Promise<EndedCycle> {
  const { runId, agent } = cycle;
  const controller = new AbortController();
  let isCancelled = false;
  const cancel = (): void => {
    isCancelled = true;
    controller.abort(new Error('The run was cancelled.'));
  };
  if (cycle.isCancelRequested) cancel();
  thread.abort = controller;
  thread.running = { runId, cancel };
  thread.runId = runId;
  const unsubscribe = services.bus.subscribe(runChannel(runId), ({ event }) => {
    if (event?.type === 'run.cancelling') cancel();
  });
  const abort = {
    signal: controller.signal,
    isCancelled: () => isCancelled,
    interrupt: (reason: Error) => controller.abort(reason),
  };
  const attributes = { 'gen_ai.agent.id': agent.id, 'gen_ai.agent.name': agent.name };
  try {
    return await inSpan({ operation: 'invoke_agent', subject: agent.name, attributes }, () =>
      runCycle(services, registry, cycle, abort),
    );
  } finally {
    thread.running = undefined;
    unsubscribe();
  }
}
