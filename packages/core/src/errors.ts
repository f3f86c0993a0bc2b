/**
 * The base of every error that Lastcall throws. `code` is stable and meant for programs; `message` says what was
 * expected, what was given and what to do, and is meant for people.
 */
export class LastcallError extends Error {
  override readonly name: string = 'LastcallError';
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** A tool definition that cannot work. Names the tool and the field. */
export class ToolDefinitionError extends LastcallError {
  override readonly name: string = 'ToolDefinitionError';
  readonly tool: string;
  readonly field: string;

  constructor(tool: string, field: string, problem: string, options?: { cause?: unknown }) {
    super('tool_definition', `Tool "${tool}": ${field} ${problem}`, options);
    this.tool = tool;
    this.field = field;
  }
}

/** A tool set that cannot work: an array, a name twice, a name that is not there. */
export class ToolSetError extends LastcallError {
  override readonly name: string = 'ToolSetError';

  constructor(message: string, options?: { cause?: unknown }) {
    super('tool_set', message, options);
  }
}

/** Thrown by a tool that finds its arguments wrong after the schema let them pass: settles as `error/invalid_input`. */
export class ToolValidationError extends LastcallError {
  override readonly name: string = 'ToolValidationError';

  constructor(message: string, options?: { cause?: unknown }) {
    super('tool_validation', message, options);
  }
}

/** A schema that cannot be used: malformed, without a JSON Schema, or not describing an object where one is needed. */
export class SchemaError extends LastcallError {
  override readonly name: string = 'SchemaError';

  constructor(message: string, options?: { cause?: unknown }) {
    super('schema', message, options);
  }
}

/** An option that cannot work, refused before anything runs. Names the field. */
export class OptionsError extends LastcallError {
  override readonly name: string = 'OptionsError';
  readonly field: string;

  constructor(field: string, problem: string) {
    super('options', `Option "${field}" ${problem}`);
    this.field = field;
  }
}

/**
 * A session was used in a way that would break its guarantees: a host write during a running call, an unknown slice, …
 */
export class SessionError extends LastcallError {
  override readonly name: string = 'SessionError';

  constructor(message: string, options?: { cause?: unknown }) {
    super('session', message, options);
  }
}

/**
 * The slice's definition cannot read its stored state. Nothing was changed: the state is kept for a definition that
 * can.
 */
export class SliceVersionError extends SessionError {
  override readonly name: string = 'SliceVersionError';
  override readonly code: string = 'slice_version';
  readonly slice: string;
  readonly storedVersion: number;
  readonly version: number;

  constructor(found: { name: string; stored: number; defined: number; cause?: unknown }) {
    const { name, stored, defined, cause } = found;
    super(versionProblem(found), cause === undefined ? {} : { cause });
    this.slice = name;
    this.storedVersion = stored;
    this.version = defined;
  }
}

function versionProblem(found: { name: string; stored: number; defined: number; cause?: unknown }): string {
  const { name, stored, defined, cause } = found;
  const versions = `Slice "${name}" is stored in version ${stored}, and its definition is version ${defined}`;
  const why = cause instanceof Error ? cause.message : String(cause);
  if (cause !== undefined) return `${versions}. Its migrate(state, ${stored}) failed: ${why} The stored state is kept.`;
  return stored > defined
    ? `${versions}, which is older. Run the newer program, or give the definition version ${stored} or above. The stored state is kept.`
    : `${versions}. Give the slice a migrate(state, fromVersion) that makes version ${defined} of version ${stored}. The stored state is kept.`;
}

/** A stored transcript cannot be read. `path` is where in it, like `entries[3].settlement.callId`. */
export class StoredTranscriptError extends LastcallError {
  override readonly name: string = 'StoredTranscriptError';
  readonly path: string;
  /** The problem at that path. */
  readonly problem: string;

  constructor(path: string, problem: string, options?: { cause?: unknown }) {
    super('transcript', `The stored transcript cannot be read. ${path}: ${problem}`, options);
    this.path = path;
    this.problem = problem;
  }
}

/**
 * The journal did not answer in time: the data may have been written or not. Continue from what it stored, as after a
 * crash, and not from the transcript in memory.
 */
export class JournalStalled extends LastcallError {
  override readonly name: string = 'JournalStalled';

  constructor(what: string) {
    super(
      'journal_stalled',
      `The journal did not answer in time: ${what} may have been written or not. Go on from what it kept.`,
    );
  }
}

/**
 * A host signal: if a middleware throws it instead of asking the model, the turn stops with `budget`, as it does when its own budget is
 * used up.
 */
export class BudgetUsedUp extends LastcallError {
  override readonly name: string = 'BudgetUsedUp';
  readonly dimension: 'tokens' | 'money';

  constructor(dimension: 'tokens' | 'money', message: string) {
    super('budget', message);
    this.dimension = dimension;
  }
}

/** A call did something after it had ended. It changed nothing. */
export class StaleCallError extends LastcallError {
  override readonly name: string = 'StaleCallError';

  constructor(what: string) {
    super('stale_call', `${what} after the call had ended: nothing was changed. Await everything before returning.`);
  }
}

/** Something tried to write that can only read: a tool with `effects: 'none'`, an approval check, `beforeCall`, middleware, `compensate`. */
export class ReadOnlyError extends LastcallError {
  override readonly name: string = 'ReadOnlyError';

  constructor(what: string) {
    super(
      'read_only',
      `${what} is a write. A tool with effects: 'none' cannot write: declare effects: 'session' instead. Nor can an approval check, beforeCall of a policy, middleware or compensate.`,
    );
  }
}

/** A change of a failed call could not be rolled back. The session is poisoned: it refuses further calls. */
export class RestoreFailed extends LastcallError {
  override readonly name: string = 'RestoreFailed';

  constructor(message: string, options?: { cause?: unknown }) {
    super('restore_failed', message, options);
  }
}

/** A file operation was refused or failed. */
export class FilesystemError extends LastcallError {
  override readonly name: string = 'FilesystemError';
  readonly path: string;

  constructor(code: FilesystemErrorCode, path: string, problem: string, options?: { cause?: unknown }) {
    super(code, `"${path}": ${problem}`, options);
    this.path = path;
  }
}

export type FilesystemErrorCode =
  | 'not_found'
  | 'already_exists'
  | 'is_directory'
  | 'not_directory'
  | 'not_empty'
  | 'outside_root'
  | 'bad_path'
  | 'too_large'
  | 'not_text'
  | 'special_file'
  | 'not_kept'
  | 'io';

/** Thrown by a policy's guard in the middle of a call: settles as `error/denied` with this reason. */
export class PolicyDenied extends LastcallError {
  override readonly name: string = 'PolicyDenied';
  readonly reason: string;

  constructor(reason: string) {
    super('denied', reason);
    this.reason = reason;
  }
}

/** A plugin or a mode cannot work; thrown when it is built. Names the plugin, and the mode if one is at fault. */
export class PluginError extends LastcallError {
  override readonly name: string = 'PluginError';
  readonly plugin: string;
  readonly mode: string | undefined;

  constructor(where: { plugin: string; mode?: string | undefined }, problem: string, options?: { cause?: unknown }) {
    const mode = where.mode === undefined ? '' : `, mode "${where.mode}"`;
    super('plugin', `Plugin "${where.plugin}"${mode}: ${problem}`, options);
    this.plugin = where.plugin;
    this.mode = where.mode;
  }
}

/** A prompt cannot work; thrown when it is built. */
export class PromptValidationError extends LastcallError {
  override readonly name: string = 'PromptValidationError';

  constructor(message: string, options?: { cause?: unknown }) {
    super('prompt_validation', message, options);
  }
}

/** A prompt failed while it was rendered. `path` is the section's, with dots. */
export class PromptRenderError extends LastcallError {
  override readonly name: string = 'PromptRenderError';
  readonly path: string;

  constructor(path: string, problem: string, options?: { cause?: unknown }) {
    super('prompt_render', `Section "${path}": ${problem}`, options);
    this.path = path;
  }
}

/**
 * A host signal: if a tool throws it, the call is rolled back and the error leaves the loop unchanged, so that the host
 * can show the named sections in full and run again.
 */
export class VisibilityExpansionRequired extends LastcallError {
  override readonly name: string = 'VisibilityExpansionRequired';
  readonly sections: readonly string[];

  constructor(message: string, sections: readonly string[] = []) {
    super('visibility_expansion_required', message);
    this.sections = sections;
  }
}

/** A host signal: if a tool throws it, the call is rolled back and the error leaves the loop unchanged. */
export class PromptEvaluationError extends LastcallError {
  override readonly name: string = 'PromptEvaluationError';
  readonly phase: string;
  /** Milliseconds since the epoch, if a deadline was the cause. */
  readonly expiresAt: number | undefined;

  constructor(message: string, details: { phase: string; expiresAt?: number | undefined; cause?: unknown }) {
    super('prompt_evaluation', message, 'cause' in details ? { cause: details.cause } : undefined);
    this.phase = details.phase;
    this.expiresAt = details.expiresAt;
  }
}

/** A host signal: if a tool that noticed its deadline throws it, it leaves the loop as a PromptEvaluationError. */
export class DeadlineExceededError extends LastcallError {
  override readonly name: string = 'DeadlineExceededError';
  readonly expiresAt: number | undefined;

  constructor(message: string = 'The deadline has passed.', expiresAt?: number) {
    super('deadline_exceeded', message);
    this.expiresAt = expiresAt;
  }
}
