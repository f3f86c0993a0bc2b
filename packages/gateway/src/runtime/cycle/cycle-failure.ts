import { LastcallError } from '@lastcall/core';
import type { Redact } from '../../telemetry/redact.ts';

/** Why a cycle failed, as each may know it. */
export interface CycleFailure {
  /** For operators: what was thrown, without secrets. */
  readonly message: string;
  /** For the people in a space: it repeats nothing that a provider, a tool or a library said. */
  readonly text: string;
  /** Whether trying again may help. */
  readonly retry: boolean;
}

export function toCycleFailure(error: unknown, redact: Redact): CycleFailure {
  const message = redact(error instanceof Error ? error.message : String(error));
  if (isOfSetup(error)) return { message, text: 'The agent cannot work as it is set up.', retry: false };
  return { message, text: isOfModel(error) ? MODEL_FAILED : CYCLE_FAILED, retry: true };
}

/** What was stored of the agent cannot be read: the next try would find the same. */
export function toHistoryFailure(error: unknown, redact: Redact): CycleFailure {
  const why = redact(error instanceof Error ? error.message : String(error));
  return { message: `${HISTORY_UNREADABLE} ${why}`, text: HISTORY_UNREADABLE, retry: false };
}

const HISTORY_UNREADABLE = "The agent's stored history cannot be read.";

export const CYCLE_FAILED = 'Something went wrong while the agent was working.';
const MODEL_FAILED = 'The model could not be asked, or did not answer.';

/** Ours: a model without its key, package or address, and tools that this gateway cannot make anything of. */
const SETUP_CODES: ReadonlySet<string> = new Set(['model', 'unknown_tool', 'tool_definition', 'tool_set', 'schema']);
/** Of the providers' packages: a key or a setting is missing, or they have no such model. */
const SETUP_NAMES: ReadonlySet<unknown> = new Set(['AI_LoadAPIKeyError', 'AI_LoadSettingError', 'AI_NoSuchModelError']);
/** Of providers: the key is refused, or has no right to the model, or there is no such model or address. */
const SETUP_STATUSES: ReadonlySet<unknown> = new Set([401, 403, 404]);

/** The next try would find the same: somebody has to change something first. */
function isOfSetup(error: unknown): boolean {
  const { name, statusCode } = fieldsOf(error);
  if (error instanceof LastcallError && SETUP_CODES.has(error.code)) return true;
  return SETUP_NAMES.has(name) || SETUP_STATUSES.has(statusCode);
}

function isOfModel(error: unknown): boolean {
  const { name, statusCode, code } = fieldsOf(error);
  return statusCode !== undefined || code === 'cut_stream' || (typeof name === 'string' && name.startsWith('AI_'));
}

function fieldsOf(error: unknown): Readonly<Record<'name' | 'statusCode' | 'code', unknown>> {
  return (typeof error === 'object' && error !== null ? error : {}) as ReturnType<typeof fieldsOf>;
}
