import { findDeletion } from '../../domain/conversations/run-answer.ts';
import { readStream } from '../../domain/streams/read-stream.ts';
import { runStream } from '../../domain/streams/stream-names.ts';
import type { StreamEvent } from '../../ports/bus/bus.ts';
import type { Services } from '../../ports/services.ts';

export interface RunEventOptions {
  /** The `seq` of the last event that the reader has. Default: from the beginning. */
  readonly after?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The events of a run, from any gateway, in order, each once, up to and with `run.end`. The same events that
 * `GET /api/runs/:id/stream` sends. It may be followed from before the run begins, and resumed after any event.
 *
 * | type | payload |
 * |---|---|
 * | `run.start` | `runId`, `agentId` |
 * | `step.start` | `step`, `attempt`: with the same `step` again, what was written since the last one is void |
 * | `text.delta`, `reasoning.delta` | `step`, `delta` |
 * | `tool-input-start` | `callId`, `toolName` |
 * | `tool-input-delta` | `callId`, `delta` |
 * | `tool-call.start` | `callId`, `toolName`, `input` |
 * | `tool-call.progress` | `callId`, `value` |
 * | `tool-call.complete`, `.error`, `.cancelled`, `.skipped` | `callId`, `toolName`, `input`, `outcome` |
 * | `tool-call.pending` | the same: the call waits for an answer |
 * | `nudge` | `step`, `text` |
 * | `rewind` | `step`, `reason`, `guidance` |
 * | `step.end` | `step`, `usage` |
 * | `run.cancelling` | `runId` |
 * | `run.end` | `runId`, `status`, `stop`: `awaitRun` has the answer |
 *
 * It also ends, without `run.end`, when the signal is aborted, and for a run that was deleted or whose events are no
 * longer kept.
 */
export async function* runEvents(
  services: Services,
  runId: string,
  { after = 0, signal }: RunEventOptions = {},
): AsyncGenerator<StreamEvent, void> {
  const reader = await readStream(services, { stream: runStream(runId), after });
  const close = (): void => reader.close();
  signal?.addEventListener('abort', close);
  const look = async (): Promise<void> => {
    await reader.look();
    // The events of a run are deleted with it, and no other event would come.
    if ((await findDeletion(services.store.db, runId)) !== undefined) reader.close();
  };
  // The store is also polled, because notices can get lost.
  const timer = setInterval(() => void look().catch(() => {}), LOOK_SWEEPS * services.limits.sweepMs);
  try {
    if (signal?.aborted === true) return;
    for (let item = await reader.next(); item !== undefined; item = await reader.next()) {
      // The events were deleted by the sweep: the run ended long ago. Its answer is still stored.
      if (item.kind === 'reset') return;
      yield item.event;
      if (item.event.type === 'run.end') return;
    }
  } finally {
    clearInterval(timer);
    signal?.removeEventListener('abort', close);
    reader.close();
  }
}

/** With more frequent reads, many followers would keep the store busy. */
const LOOK_SWEEPS = 5;
