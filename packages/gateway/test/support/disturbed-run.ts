import type { Services } from '../../src/ports/services.ts';
import { claimNextRun } from '../../src/runtime/claim/next-run.ts';
import { TranscriptCache } from '../../src/runtime/claim/transcript-cache.ts';
import { performRun } from '../../src/runtime/loops/perform-run.ts';
import { RunInterrupted } from '../../src/runtime/loops/run-interrupted.ts';
import { killedAt, type When, watched } from './watched-store.ts';
import type { World } from './world.ts';

type WorkRegistry = Parameters<typeof performRun>[1];

/** A process that is killed writes nothing more. A run that is interrupted still writes the ends of its calls. */
export type How = 'kill' | 'interrupt';

/** Takes the agent's thread, as a worker does, and works until the run has ended, or until it is interrupted. */
export async function work(
  services: Services,
  registry: WorkRegistry,
  bot: string,
  abort: AbortController = new AbortController(),
): Promise<void> {
  const transcriptCache = new TranscriptCache();
  const taken = await claimNextRun(services, registry, bot, { owner: 'me', isUrgent: false, transcriptCache });
  if (taken === undefined) return;
  const { run } = taken;
  let isCancelled = false;
  const cancel = (): void => {
    isCancelled = true;
    abort.abort(new Error('The run was cancelled.'));
  };
  if (run.isCancelRequested) cancel();
  const interrupt = (reason: Error): void => abort.abort(reason);
  await performRun(services, registry, run, {
    signal: abort.signal,
    isCancelled: () => isCancelled,
    cancel,
    interrupt,
  });
}

/** Ends the lease of the agent's thread, so that the next worker can take it at once. */
export async function letGo(world: World, bot: string): Promise<void> {
  await world.in((tx) =>
    tx.db.updateTable('threads').set({ lease_owner: null, lease_until: 0 }).where('id', '=', bot).execute(),
  );
}

/** Works undisturbed, and releases the thread. */
export async function goOn(world: World, registry: WorkRegistry, bot: string): Promise<void> {
  await work(world.services, registry, bot);
  await letGo(world, bot);
}

/** Works until the n-th transaction, where the process is killed or the run interrupted. Returns how many transactions there were. */
export async function disturb(
  world: World,
  registry: WorkRegistry,
  bot: string,
  { at, when, how }: { readonly at: number; readonly when: When; readonly how: How },
): Promise<number> {
  const abort = new AbortController();
  const { store, count } =
    how === 'kill'
      ? killedAt(world.store, at, when)
      : watched(world.store, at, when, () => abort.abort(new RunInterrupted()));
  await work({ ...world.services, store }, registry, bot, abort).catch((error: Error) => {
    if (!['RunInterrupted', 'Killed'].includes(error.name)) throw error;
  });
  await letGo(world, bot);
  return count();
}
