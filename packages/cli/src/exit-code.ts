import { ClientError } from '@lastcall/client';

/** The exit codes of commands. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  /** No gateway answers, or it does not allow the request. */
  notReached: 3,
  /** A limit ended the run: steps, requests to the model, tool calls, time, tokens, or reminders to end with the tool. */
  limit: 10,
  /** The run waits for an answer. */
  waiting: 11,
  cancelled: 12,
  /** The model's reply was cut off or filtered. */
  cut: 13,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends a command with one sentence for people and an exit code for programs. */
export class CommandFailed extends Error {
  /** Reports of evaluations show the name beside the message, to people who know no classes of this package. */
  override readonly name: string = 'Error';
  readonly exitCode: ExitCode;
  /** The HTTP status of the gateway's refusal. */
  readonly status: number | undefined;
  /** The gateway's code for its refusal. */
  readonly code: string | undefined;
  readonly details: unknown;

  constructor(
    message: string,
    {
      exitCode = EXIT.failed,
      status,
      cause,
    }: { exitCode?: ExitCode; status?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.exitCode = exitCode;
    this.status = status;
    const { code, details } = cause instanceof ClientError ? cause : {};
    this.code = code;
    this.details = details;
  }
}
