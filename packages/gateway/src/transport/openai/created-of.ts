import { timeOfId } from '../../domain/new-id.ts';
import { toSeconds } from './list-models.ts';

/** When the run was requested, in seconds since the epoch: a repeated request, and a response that is read later, have the same time. */
export function createdOf(runId: string): number {
  return toSeconds(timeOfId(runId));
}
