import type { LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';

/** Why a call did not succeed. A tool may set its own code with `fail(message, { code })`. */
export type ErrorCode =
  | 'unknown_tool'
  | 'invalid_input'
  | 'denied'
  | 'blocked'
  | 'execution'
  | 'timeout'
  | 'aborted'
  | 'budget'
  | 'expired'
  | 'unknown_outcome'
  | 'terminal_already_called'
  | 'transition_already_called'
  | (string & {});

/** A part of a result that is not text, e.g. an image, in the form of the AI SDK's provider interface. */
export type Part = Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>['value'][number];

/**
 * What a call waits for: its result, permission to run, or input that its tool asked for. With the input, the tool
 * continues.
 */
export type PendingKind = 'result' | 'approval' | 'input';

/** How a call ended. `text` is what the model reads; the status is a field and is never parsed from the text. */
export type Outcome =
  | {
      readonly status: 'ok';
      readonly value: unknown;
      readonly text: string;
      readonly userText?: string;
      readonly content?: readonly Part[];
    }
  | {
      readonly status: 'error';
      readonly code: ErrorCode;
      readonly message: string;
      readonly text: string;
      /** Set if a deadline or an abort ended the call: whether it may have changed something outside. */
      readonly effect?: 'none' | 'possible';
    }
  | { readonly status: 'cancelled'; readonly reason: string; readonly text: string }
  | { readonly status: 'skipped'; readonly reason: string; readonly text: string }
  | {
      readonly status: 'pending';
      readonly kind: PendingKind;
      readonly expiresAt?: number;
      readonly onExpiry?: 'report' | 'fail';
      readonly display?: unknown;
      readonly text: string;
    };

/** A call with its outcome. Times are in milliseconds since the epoch. */
export interface Settlement {
  readonly callId: string;
  readonly toolName: string;
  /** The parsed input that the tool got; if parsing failed, the input as the model wrote it. */
  readonly input: unknown;
  readonly outcome: Outcome;
  /** True if the successful output is the response: of a terminal tool, or by `ok(value, message, { final: true })`. */
  readonly terminal?: true;
  readonly startedAt: number;
  readonly endedAt: number;
}
