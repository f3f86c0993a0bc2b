import type { WaitStatus } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { jobsStream, spaceStream } from '../streams/stream-names.ts';
import type { WaitingCall } from './waiting-call.ts';

/** The announcement of a job. The worker that claims it gets the input. */
export interface JobOffer {
  readonly callId: string;
  readonly runId: string;
  readonly agentId: string;
  readonly toolName: string;
  readonly expiresAt?: number | undefined;
  /** How often it was claimed before. */
  readonly claims: number;
}

export function toOffer({ callId, runId, agentId, toolName, expiresAt, claims }: JobOffer): JobOffer {
  return { callId, runId, agentId, toolName, claims, ...(expiresAt === undefined ? {} : { expiresAt }) };
}

/** Announces a job that no worker has claimed. */
export function offerJob(tx: Tx, job: JobOffer): void {
  tx.emit({ stream: jobsStream(job.agentId), type: 'job.available', payload: toOffer(job) });
}

export function tellJobClaimed(
  tx: Tx,
  { agentId, ...payload }: { agentId: string; callId: string; worker: string; claimedUntil: number },
): void {
  tx.emit({ stream: jobsStream(agentId), type: 'job.claimed', payload });
}

/** Progress is shown to the other workers, and in the space that has the call's card. */
export async function tellJobProgress(tx: Tx, call: WaitingCall, value: unknown): Promise<void> {
  const { agentId, callId, spaceId } = call;
  tx.emit({ stream: jobsStream(agentId), type: 'job.progress', payload: { callId, value } });
  // If the agent had been removed from the space, there is no card, and the space must not see the call.
  if (spaceId !== undefined && (await hasCard(tx, callId)))
    tx.emit({ stream: spaceStream(spaceId), type: 'tool-call.progress', payload: { callId, value } });
}

async function hasCard(tx: Tx, callId: string): Promise<boolean> {
  return (await tx.db.selectFrom('messages').select('id').where('call_id', '=', callId).execute()).length > 0;
}

/** Does nothing for a call that is not a job. */
export function tellJobEnded(tx: Tx, call: WaitingCall, status: WaitStatus): void {
  if (call.job === undefined) return;
  const { agentId, callId } = call;
  tx.emit({ stream: jobsStream(agentId), type: 'job.ended', payload: { callId, status } });
}
