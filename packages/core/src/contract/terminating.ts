import { LastcallError, OptionsError } from '../errors.ts';
import type { Stop } from '../transcript/stop.ts';
import type { Transcript } from '../transcript/transcript.ts';
import { assertKnownOptions, type KnownNames, knownNames } from '../unknown-option.ts';
import { missing, type ToolSet } from './tool-set.ts';

/** Which tools end the run, how often the model is reminded of them, and how often it is asked at most. */
export interface TerminatingContract {
  /** Names, registry keys or ids. */
  toolIds: readonly string[];
  /** How many consecutive replies without a call are answered with a nudge. Default 1. */
  consecutiveNudges?: number;
  nudgeMessage?: string;
  /** The maximum number of model invocations, including nudged ones. Default 64. */
  maxInvocations?: number;
}

export const DEFAULT_CONSECUTIVE_NUDGES = 1;
export const DEFAULT_MAX_INVOCATIONS = 64;

export const DEFAULT_NUDGE =
  'You are currently in an autonomous execution mode with no user interaction. You must complete your task by calling one of the terminating tools.';

export type CheckedContract = Required<TerminatingContract>;

/** Refuses numbers that cannot work, and names the field. */
export function checkContract(contract: TerminatingContract): CheckedContract {
  if (typeof contract !== 'object' || contract === null)
    throw new OptionsError('terminating', 'must be an object { toolIds: […] }.');
  assertKnownOptions(contract, CONTRACT, 'terminating.');
  const {
    toolIds,
    consecutiveNudges = DEFAULT_CONSECUTIVE_NUDGES,
    nudgeMessage = DEFAULT_NUDGE,
    maxInvocations = DEFAULT_MAX_INVOCATIONS,
  } = contract;
  if (!Array.isArray(toolIds) || toolIds.length === 0 || !toolIds.every((id) => typeof id === 'string')) {
    throw new OptionsError('terminating.toolIds', 'must be a list of at least one tool.');
  }
  if (!Number.isInteger(consecutiveNudges) || consecutiveNudges < 0) {
    throw new OptionsError(
      'terminating.consecutiveNudges',
      `must be a whole number of 0 or more, not ${String(consecutiveNudges)}.`,
    );
  }
  if (!Number.isInteger(maxInvocations) || maxInvocations < 1) {
    throw new OptionsError(
      'terminating.maxInvocations',
      `must be a whole number of 1 or more, not ${String(maxInvocations)}.`,
    );
  }
  if (typeof nudgeMessage !== 'string' || nudgeMessage === '')
    throw new OptionsError('terminating.nudgeMessage', 'must be a text.');
  return { toolIds, consecutiveNudges, nudgeMessage, maxInvocations };
}

const CONTRACT: KnownNames = knownNames<TerminatingContract>({
  toolIds: true,
  consecutiveNudges: true,
  nudgeMessage: true,
  maxInvocations: true,
});

/** The names of the contract's tools that are offered now: a step may leave some out. */
export function listedNames(contract: CheckedContract, tools: ToolSet): ReadonlySet<string> {
  return new Set(contract.toolIds.flatMap((wanted) => nameOf(wanted, tools) ?? []));
}

/** Refuses a contract that lists a name that is not a tool of the run. */
export function assertListed(contract: CheckedContract, tools: ToolSet): void {
  for (const wanted of contract.toolIds) {
    if (nameOf(wanted, tools) === undefined)
      throw new OptionsError(
        'terminating.toolIds',
        `lists a name that is not a tool of this run. ${missing(wanted, tools)}.`,
      );
  }
}

function nameOf(wanted: string, tools: ToolSet): string | undefined {
  if (Object.hasOwn(tools, wanted)) return wanted;
  return Object.entries(tools).find(([, tool]) => tool.id === wanted)?.[0];
}

/** The model was invoked as often as the contract allows. `transcript` has what was done. */
export class MaxInvocationsExceeded extends LastcallError {
  override readonly name: string = 'MaxInvocationsExceeded';
  readonly stop: Stop = { reason: 'max_invocations' };
  readonly transcript: Transcript;

  constructor(transcript: Transcript) {
    super('max_invocations_exceeded', 'Max invocations exceeded');
    this.transcript = transcript;
  }
}

/** The model kept answering with text. `transcript` has what was done. */
export class MaxConsecutiveNudgesExceeded extends LastcallError {
  override readonly name: string = 'MaxConsecutiveNudgesExceeded';
  readonly stop: Stop = { reason: 'max_nudges' };
  readonly transcript: Transcript;

  constructor(transcript: Transcript) {
    super('max_consecutive_nudges_exceeded', 'Max consecutive nudges exceeded');
    this.transcript = transcript;
  }
}
