import { runChannel } from '../domain/streams/channels.ts';
import type { Services } from '../ports/services.ts';
import { inSpan } from '../telemetry/spans.ts';
import type { ClaimedCycle } from './claim/next-cycle.ts';
import type { Lease } from './lease/lease.ts';
import { runCycle } from './loops/run-cycle.ts';
import type { OpenWake } from './open-wake.ts';
import type { Cycle } from './run/cycle.ts';
import type { EndedCycle } from './run/cycle-state.ts';
import { nextThread, type ThreadState } from './thread-state.ts';
import type { WorkerRegistry } from './toolset/registry.ts';

/** A thread that this worker holds. */
export interface ActiveThread {
  readonly lease: Lease;
  state: ThreadState;
  /** The worker looks for work again after releasing the thread, unless it is `none`. */
  wake: OpenWake;
  readonly done: Promise<void>;
}

export function createActiveThread({ lease, cycle }: ClaimedCycle, done: Promise<void>): ActiveThread {
  return { lease, state: { kind: 'claimed', cycle }, wake: 'none', done };
}

/** Ends the running cycle, if there is one, and leaves its run open. */
export function interruptCycle({ state }: ActiveThread, reason: Error): void {
  if (state.kind === 'running') state.interrupt(reason);
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
  const interrupt = (reason: Error): void => controller.abort(reason);
  if (cycle.isCancelRequested) cancel();
  thread.state = nextThread(thread.state, { type: 'cycle-started', runId, cancel, interrupt });
  const unsubscribe = services.bus.subscribe(runChannel(runId), ({ event }) => {
    if (event?.type === 'run.cancelling') cancel();
  });
  const abort = { signal: controller.signal, isCancelled: () => isCancelled, interrupt };
  const attributes = { 'gen_ai.agent.id': agent.id, 'gen_ai.agent.name': agent.name };
  try {
    return await inSpan({ operation: 'invoke_agent', subject: agent.name, attributes }, () =>
      runCycle(services, registry, cycle, abort),
    );
  } finally {
    thread.state = nextThread(thread.state, { type: 'cycle-ended' });
    unsubscribe();
  }
}
