import { LastcallError, MaxConsecutiveNudgesExceeded, MaxInvocationsExceeded, type Stop } from '@lastcall/core';
import type { Redact } from '../../telemetry/redact.ts';

/** Why a run failed: one text for operators, one for people. */
export interface RunFailure {
  /** For operators: the message of the error, without secrets. */
  readonly message: string;
  /** For the people in a space. It contains no text of a provider, a tool or a library. */
  readonly text: string;
  /** True if another attempt may succeed. */
  readonly retry: boolean;
  /**
   * True if no attempt can succeed until the configuration or the program changes, and the events should wait for that: the agent becomes
   * `invalid`.
   */
  readonly hold?: boolean;
  /** How the turn itself ended, if it reported that. */
  readonly stop?: Stop;
  /** The error code in the run's stop, for programs. */
  readonly code?: string;
}

/** `isUnanswered`: the model was called and did not answer. */
export function toRunFailure(
  error: unknown,
  redact: Redact,
  { isUnanswered }: { readonly isUnanswered: boolean },
): RunFailure {
  const message = redact(error instanceof Error ? error.message : String(error));
  const setup = setupProblem(error);
  if (setup !== undefined) {
    const hold = error instanceof LastcallError && HOLDING.has(error.code);
    return { message, text: `The agent cannot work as it is set up: ${setup}`, retry: false, hold };
  }
  if (error instanceof MaxInvocationsExceeded)
    return { message, text: TOO_MANY_REQUESTS_TO_MODEL, retry: true, stop: error.stop };
  if (error instanceof MaxConsecutiveNudgesExceeded)
    return { message, text: NEVER_FINISHED, retry: true, stop: error.stop };
  return { message, text: modelProblem(error, isUnanswered) ?? CYCLE_FAILED, retry: true };
}

/** What is stored of a thread, and cannot be read. */
export type Unreadable = 'transcript' | 'session' | 'machine';

/**
 * Something that is stored cannot be read. Another attempt would find the same. A session or a machine is state that nothing can replace,
 * so the events wait until it is repaired.
 */
export function toUnreadableFailure(error: unknown, redact: Redact, what: Unreadable): RunFailure {
  const why = redact(error instanceof Error ? error.message : String(error));
  const text = `The agent's stored ${what} cannot be read.`;
  const hold = what === 'transcript' ? {} : { hold: true };
  return { message: `${text} ${why}${hold.hold === true ? ' It is kept as it is.' : ''}`, text, retry: false, ...hold };
}

/** Another gateway that worked on the run would stop too. */
export const NO_PROGRESS: RunFailure = {
  code: 'no_progress',
  message:
    'The run was taken over too often without progress: each gateway that worked on it died or stalled before it stored anything. ' +
    "Look for the cause in the gateways' logs and in the agent's model and tools, remove it, then redrive the events.",
  text: 'The gateways that worked on this stopped without making progress.',
  retry: false,
};

export const CYCLE_FAILED = 'Something went wrong while the agent was working.';
const NEVER_FINISHED = 'The model did not end with a required tool, although it was reminded.';
const TOO_MANY_REQUESTS_TO_MODEL = 'The model reached its limit of requests and did not finish.';

const KEY_PROBLEM = 'the provider of its model has no valid key.';
const NO_MODEL = 'its model does not exist at the provider.';
const MODEL_PROBLEM = 'its model cannot be used.';
const TOOL_PROBLEM = 'one of its tools cannot be used.';
const DEFINITION_PROBLEM =
  'its definition, or the mode that the run began in, is not in the configuration of this gateway.';
const PLUGIN_PROBLEM = 'one of its plugins or its mode cannot be used.';
const MACHINE_PROBLEM = 'its stored machine does not fit its charter.';
const SESSION_PROBLEM = 'its stored session cannot be read.';
const SPEND_PROBLEM = 'its spend limit cannot be checked.';
const STATE_PROBLEM = 'its stored state is of another version than its tools.';

/** Our own error codes: a model lacks its key, package or address, or this gateway cannot use a tool. */
const SETUP_BY_CODE: Readonly<Record<string, string>> = {
  model: MODEL_PROBLEM,
  unknown_tool: TOOL_PROBLEM,
  unknown_definition: DEFINITION_PROBLEM,
  plugin: PLUGIN_PROBLEM,
  tool_definition: TOOL_PROBLEM,
  tool_set: TOOL_PROBLEM,
  schema: TOOL_PROBLEM,
  // The stored state can be read only by another version of the program.
  slice_version: STATE_PROBLEM,
  stored_machine: MACHINE_PROBLEM,
  stored_session: SESSION_PROBLEM,
  // The price of its model is not configured, or the limit is in another currency.
  spend_limit: SPEND_PROBLEM,
};

/** What is stored does not fit the program. A new version of the program can use it. */
const HOLDING: ReadonlySet<string> = new Set([
  'slice_version',
  'unknown_definition',
  'stored_machine',
  'stored_session',
  'spend_limit',
]);

/** Error names of the providers' packages: a key or a setting is missing, or the model does not exist. */
const SETUP_BY_NAME: Readonly<Record<string, string>> = {
  AI_LoadAPIKeyError: KEY_PROBLEM,
  AI_LoadSettingError: MODEL_PROBLEM,
  AI_NoSuchModelError: NO_MODEL,
};
/**
 * HTTP statuses of providers: the key is invalid or has no access to the model, or the model or address does not exist.
 */
const SETUP_BY_STATUS: Readonly<Record<number, string>> = { 401: KEY_PROBLEM, 403: KEY_PROBLEM, 404: NO_MODEL };

/** What has to be changed before another attempt can succeed. Undefined for all other errors. */
function setupProblem(error: unknown): string | undefined {
  const { name, statusCode } = fieldsOf(error);
  const byCode = error instanceof LastcallError ? own(SETUP_BY_CODE, error.code) : undefined;
  return byCode ?? own(SETUP_BY_NAME, name) ?? own(SETUP_BY_STATUS, statusCode);
}

/** What went wrong at the model or its provider. Undefined for other errors. */
function modelProblem(error: unknown, isUnanswered: boolean): string | undefined {
  const { name, statusCode, code } = fieldsOf(error);
  if (code === 'cut_stream') return "The model's answer broke off.";
  if (statusCode === 429) return 'The provider of the model takes no more requests for now.';
  if (typeof statusCode === 'number')
    return statusCode >= 500
      ? 'The provider of the model had an error.'
      : 'The provider refused the request to the model.';
  const isModels = isUnanswered || (typeof name === 'string' && name.startsWith('AI_'));
  return isModels ? 'The model could not be asked, or did not answer.' : undefined;
}

function own(texts: Readonly<Record<string, string>>, key: unknown): string | undefined {
  return (typeof key === 'string' || typeof key === 'number') && Object.hasOwn(texts, key) ? texts[key] : undefined;
}

function fieldsOf(error: unknown): Readonly<Record<'name' | 'statusCode' | 'code', unknown>> {
  return (typeof error === 'object' && error !== null ? error : {}) as ReturnType<typeof fieldsOf>;
}
