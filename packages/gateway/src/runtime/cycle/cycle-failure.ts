import { LastcallError, MaxConsecutiveNudgesExceeded, MaxInvocationsExceeded, type Stop } from '@lastcall/core';
import type { Redact } from '../../telemetry/redact.ts';

/** Why a cycle failed: one text for operators, one for people. */
export interface CycleFailure {
  /** For operators: the message of the error, without secrets. */
  readonly message: string;
  /** For the people in a space. It repeats nothing that a provider, a tool or a library said. */
  readonly text: string;
  /** Whether another attempt may succeed. */
  readonly retry: boolean;
  /** How the turn itself says that it ended, if it does. */
  readonly stop?: Stop;
  /** What programs read in the run's stop. */
  readonly code?: string;
}

export function toCycleFailure(error: unknown, redact: Redact): CycleFailure {
  const message = redact(error instanceof Error ? error.message : String(error));
  if (isSetupError(error)) return { message, text: 'The agent cannot work as it is set up.', retry: false };
  if (error instanceof MaxInvocationsExceeded || error instanceof MaxConsecutiveNudgesExceeded)
    return { message, text: CYCLE_FAILED, retry: true, stop: error.stop };
  return { message, text: isModelError(error) ? MODEL_FAILED : CYCLE_FAILED, retry: true };
}

/** What was stored of the agent cannot be read: the next try would find the same. */
export function toHistoryFailure(error: unknown, redact: Redact): CycleFailure {
  const why = redact(error instanceof Error ? error.message : String(error));
  return { message: `${HISTORY_UNREADABLE} ${why}`, text: HISTORY_UNREADABLE, retry: false };
}

/** The next gateway that works on the run would stop too. */
export const NO_PROGRESS: CycleFailure = {
  code: 'no_progress',
  message:
    'The run was taken over too often without progress: each gateway that worked on it died or stalled before it stored anything. ' +
    "Look for the cause in the gateways' logs and in the agent's model and tools, remove it, then redrive the events.",
  text: 'The gateways that worked on this stopped without making progress.',
  retry: false,
};

const HISTORY_UNREADABLE = "The agent's stored history cannot be read.";

export const CYCLE_FAILED = 'Something went wrong while the agent was working.';
const MODEL_FAILED = 'The model could not be asked, or did not answer.';

/** Our own error codes: a model without its key, package or address, and tools that this gateway cannot use. */
const SETUP_ERROR_CODES: ReadonlySet<string> = new Set([
  'model',
  'unknown_tool',
  'tool_definition',
  'tool_set',
  'schema',
]);
/** Names of errors of the providers' packages: a key or a setting is missing, or there is no such model. */
const SETUP_ERROR_NAMES: ReadonlySet<unknown> = new Set([
  'AI_LoadAPIKeyError',
  'AI_LoadSettingError',
  'AI_NoSuchModelError',
]);
/**
 * HTTP statuses of providers: the key is refused, it has no right to the model, or there is no such model or address.
 */
const SETUP_HTTP_STATUSES: ReadonlySet<unknown> = new Set([401, 403, 404]);

/** True for errors that another attempt would meet again: somebody has to change the setup first. */
function isSetupError(error: unknown): boolean {
  const { name, statusCode } = fieldsOf(error);
  if (error instanceof LastcallError && SETUP_ERROR_CODES.has(error.code)) return true;
  return SETUP_ERROR_NAMES.has(name) || SETUP_HTTP_STATUSES.has(statusCode);
}

function isModelError(error: unknown): boolean {
  const { name, statusCode, code } = fieldsOf(error);
  return statusCode !== undefined || code === 'cut_stream' || (typeof name === 'string' && name.startsWith('AI_'));
}

function fieldsOf(error: unknown): Readonly<Record<'name' | 'statusCode' | 'code', unknown>> {
  return (typeof error === 'object' && error !== null ? error : {}) as ReturnType<typeof fieldsOf>;
}
