import { LastcallError } from '@lastcall/core';

/** A request that is refused. HTTP answers with the status of its code: see statuses.ts. A tool call fails with the message. */
export class ApiError extends LastcallError {
  override readonly name: string = 'ApiError';
  declare readonly code: ErrorCode;
  readonly details: unknown;
  /** The number of seconds after which another attempt may succeed. */
  readonly retryAfter: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    { details, retryAfter, cause }: { details?: unknown; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(code, message, { cause });
    this.details = details;
    this.retryAfter = retryAfter;
  }
}

/** All codes with which a request can be refused. docs/errors.md says what each means. */
export type ErrorCode =
  | 'access_ended'
  | 'agent_not_active'
  | 'already_answered'
  | 'authorization_failed'
  | 'bad_request'
  | 'body_timeout'
  | 'body_too_large'
  | 'cancelled'
  | 'claim_lost'
  | 'context_in_use'
  | 'cross_origin'
  | 'definition_changed'
  | 'command_failed'
  | 'empty_context'
  | 'expired'
  | 'external_id_taken'
  | 'forbidden'
  | 'id_taken'
  | 'idempotency_key_reused'
  | 'inbox_full'
  | 'insufficient_quota'
  | 'invalid_answer'
  | 'invalid_config'
  | 'invalid_json'
  | 'invalid_request'
  | 'invalid_schedule'
  | 'invalid_signature'
  | 'invalid_utf8'
  | 'job_claimed'
  | 'link_not_valid'
  | 'max_consecutive_nudges_exceeded'
  | 'max_invocations_exceeded'
  | 'may_not_answer'
  | 'method_not_allowed'
  | 'model_not_found'
  | 'no_files'
  | 'no_session'
  | 'no_machine'
  | 'no_waiting_call'
  | 'not_continued'
  | 'not_confirmed'
  | 'not_editable'
  | 'not_forkable'
  | 'not_failed'
  | 'not_found'
  | 'not_testable'
  | 'project_in_use'
  | 'rate_limited'
  | 'repeated_key'
  | 'run_cancelled'
  | 'run_ended'
  | 'run_failed'
  | 'run_queued'
  | 'space_archived'
  | 'stopping'
  | 'artifacts_unavailable'
  | 'store_unavailable'
  | 'token_expired'
  | 'too_deep'
  | 'too_large'
  | 'too_many'
  | 'too_many_attempts'
  | 'too_many_bodies'
  | 'too_many_streams'
  | 'tool_name_taken'
  | 'unauthorized'
  | 'unknown_state'
  | 'unknown_tool'
  | 'unsupported_media_type'
  | 'version_conflict'
  | 'wrong_answer';

/** Also used for things that the caller must not see, so that they cannot tell that these exist. */
export function notFound(what: string, id: string): ApiError {
  return new ApiError('not_found', `There is no ${what} "${id}".`);
}

export function isNotFound(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 'not_found';
}

/** For `catch`: returns undefined for "not found". Every other error is rethrown. */
export function ifNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
