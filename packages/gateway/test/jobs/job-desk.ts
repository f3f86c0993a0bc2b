import { offerJob } from '../../src/domain/calls/job-events.ts';
import type { OpenedWait } from '../../src/domain/calls/open-wait.ts';
import { newId } from '../../src/domain/new-id.ts';
import { openWaiting } from '../calls/open-waiting.ts';
import type { Api } from '../http/api.ts';

export interface OpenJob {
  readonly callId: string;
  readonly runId: string;
  readonly agentId: string;
}

/** A waiting job, as a run creates it. */
export async function openJob(api: Api, agentId: string, more: Partial<OpenedWait> = {}): Promise<OpenJob> {
  const call = {
    ...{ callId: newId(), runId: newId(), agentId, toolName: 'haul', kind: 'result' as const },
    input: { ref: 'm1' },
    isJob: true,
    ...more,
  };
  await api.store.transaction(async (tx) => {
    await openWaiting(tx, call);
    if (call.isJob) offerJob(tx, { ...call, claims: 0 });
  });
  return call;
}
