import { JournalStalled } from '@lastcall/core';
import { RunCancelled } from '../../domain/runs/run-cancelled.ts';
import { StaleTranscript } from '../../domain/transcript/stale-transcript.ts';
import { StoreUnavailable } from '../../ports/store/store-error.ts';
import { StagedWriteRefused } from '../journal/staged-write-refused.ts';
import { LeaseLost } from '../lease/lease.ts';
import { RunInterrupted } from './run-interrupted.ts';

/** Errors after which the thread is still held, so the worker continues with it. */
const THREAD_STAYS_HELD = [
  StagedWriteRefused,
  StaleTranscript,
  RunInterrupted,
  RunCancelled,
  // It is unknown whether the last write is stored. The worker that continues the run reads it from the store.
  JournalStalled,
];

export function keepsThread(error: unknown): boolean {
  return THREAD_STAYS_HELD.some((kind) => error instanceof kind);
}

/** True for errors that leave the run open. It continues from what is stored. */
export function leavesRunOpen(error: unknown): boolean {
  return error instanceof LeaseLost || error instanceof StoreUnavailable || keepsThread(error);
}
