import { EXIT, type ExitCode } from './exit-code.ts';
import { plainLine } from './terminal/plain-line.ts';

interface Stop {
  readonly reason: string;
  readonly by?: unknown;
  readonly tool?: unknown;
  readonly dimension?: unknown;
  readonly error?: unknown;
}

interface Known {
  /** How often the run called the model. */
  readonly asked?: number;
}

/** Why a run ended, in words for people. */
export function stopInWords({ reason, by, tool, dimension, error }: Stop, { asked }: Known = {}): string {
  switch (reason) {
    case 'end_turn':
      return by === 'text' ? 'the agent had no more to do' : `${tool} gave the response`;
    case 'transition':
      return `${tool} handed the task over`;
    case 'suspended':
      return 'it waits for an answer';
    case 'max_steps':
      return 'it used all its steps';
    case 'max_invocations':
      return `the model was asked ${timesInWords(asked)}, which is the limit, and did not end with the required tool`;
    case 'max_nudges':
      return 'the model kept replying without a tool call, and did not end with the required tool';
    case 'deadline':
      return 'its time was over';
    case 'budget':
      return dimension === 'money'
        ? 'its spend limit was reached'
        : `its budget of ${dimension === 'toolCalls' ? 'tool calls' : dimension} was used up`;
    case 'aborted':
      return 'it was cancelled';
    case 'length':
      return 'the reply of the model was cut off';
    case 'content_filter':
      return 'the reply of the model was filtered';
    case 'error':
      // Callers end the sentence.
      return plainLine(String(error), 500).replace(/(?<!\.)\.$/, '');
    default:
      return reason;
  }
}

function timesInWords(count: number | undefined): string {
  if (count === undefined) return 'many times';
  return count === 1 ? 'once' : `${count} times`;
}

/** The exit code for the same reason. */
export function exitCodeOf({ reason }: Stop): ExitCode {
  switch (reason) {
    case 'end_turn':
    case 'transition':
      return EXIT.done;
    case 'suspended':
      return EXIT.waiting;
    case 'max_steps':
    case 'max_invocations':
    case 'max_nudges':
    case 'deadline':
    case 'budget':
      return EXIT.limit;
    case 'aborted':
      return EXIT.cancelled;
    case 'length':
    case 'content_filter':
      return EXIT.cut;
    default:
      return EXIT.failed;
  }
}
