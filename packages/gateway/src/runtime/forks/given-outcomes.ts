import type { Answer } from '@lastcall/core';
import type { Machine } from '@lastcall/machines';
import type { ChangedOutcome } from '../../domain/forks/changed-outcome.ts';
import { toRecord } from '../../domain/transcript/load-transcript.ts';
import { INPUT, type MachineInput } from '../../domain/transcript/machine-rows.ts';
import type { ActiveRun } from '../run/active-run.ts';

/*
 * A person may give a call of a fork an outcome while it waits for approval. The instance of a machine that made the call waits for an
 * approval all the same: it gets one, and the tool of the fork returns the outcome in place of running.
 */

/** The outcomes that people gave to calls of this fork. They are read from the rows, so a worker that takes the run over has them too. */
export function givenOutcomes({ rows, fork }: Pick<ActiveRun, 'rows' | 'fork'>): ReadonlyMap<string, ChangedOutcome> {
  const given = new Map<string, ChangedOutcome>();
  for (const row of rows) {
    if (row.kind !== INPUT || row.seq <= (fork?.baseSeq ?? 0)) continue;
    const { answers } = toRecord(row).entry as unknown as MachineInput;
    for (const [callId, answer] of Object.entries(answers)) if (isOutcome(answer)) given.set(callId, answer);
  }
  return given;
}

/** The answer as the machine takes it. */
export function asApproval(machine: Machine, callId: string, answer: Answer): Answer {
  if (!isOutcome(answer)) return answer;
  const waiting = machine.suspended.find((one) => one.callId === callId);
  return waiting?.kind === 'approval' ? { approve: true } : answer;
}

function isOutcome(answer: Answer): answer is Extract<Answer, ChangedOutcome> {
  return 'result' in answer || 'error' in answer;
}
