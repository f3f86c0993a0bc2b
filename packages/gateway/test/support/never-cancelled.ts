import type { RunAbort } from '../../src/runtime/loops/run-abort.ts';

/** For a run that no one cancels. It can be interrupted, also by aborting the controller. */
export function neverCancelled(controller: AbortController = new AbortController()): RunAbort {
  return {
    signal: controller.signal,
    isCancelled: () => false,
    cancel: () => {},
    interrupt: (reason) => controller.abort(reason),
  };
}
