import { PolicyDenied, ToolValidationError } from '../errors.ts';
import type { Policy } from '../policies/policy.ts';
import { describeError, errorText } from '../results/describe-error.ts';
import type { Outcome } from '../results/outcome.ts';
import { isFinal } from '../results/result.ts';
import type { SliceChanges } from '../session/recording.ts';
import type { SessionLayer } from '../session/session-layer.ts';
import type { ResolvedTool } from '../tools/resolved-tool.ts';
import { Attempts } from './attempts.ts';
import type { CallRun } from './call-run.ts';
import { denied } from './check-policies.ts';
import { cutOffOutcome } from './cut-off.ts';
import { toHostSignal } from './host-signal.ts';
import { type Judged, judgeResult } from './judge-result.ts';
import { isRecordedEnd } from './recorded-end.ts';
import { errorOutcome } from './refusal.ts';

/** How a call ended, and the draft with its changes, still to be committed or discarded. */
export interface Ending {
  readonly outcome: Outcome;
  /** The input that the tool got; if it never got one, the input as the model wrote it. */
  readonly input: unknown;
  /** True if its success is the response: of a terminal tool, or by `final`. */
  readonly terminal: boolean;
  readonly draft?: SessionLayer | undefined;
  /** The drafts of earlier attempts, which were discarded. */
  readonly dropped?: readonly SessionLayer[] | undefined;
  /** An error that leaves the loop and goes to the host, once the call is settled. */
  readonly signal?: Error | undefined;
  /** Of an earlier call whose end this one was given: how that changed the session. */
  readonly slices?: SliceChanges | undefined;
  /** True if the tool was abandoned: its cleanup is not awaited. */
  readonly leftBehind?: true;
}

/** Runs the tool against its limits. Never throws for what the tool does. */
export async function executeTool(
  run: CallRun,
  tool: ResolvedTool,
  input: unknown,
  policies: readonly Policy[],
): Promise<Ending> {
  const { limit, toolName } = run;
  const { terminal } = tool;
  const attempts = new Attempts(run, tool, policies);
  const returned: Returned = { isFinal: false };
  try {
    const begun = attempts.start(input);
    const given = begun instanceof Promise ? await limit.race(begun) : begun;
    const judging = limit.isHit(given) ? given : judge(attempts, { run, tool, input, policies }, given, returned);
    const outcome = judging instanceof Promise ? await limit.race(judging) : judging;
    if (limit.isHit(outcome))
      return {
        outcome: cutOffOutcome(run, outcome),
        input,
        terminal,
        draft: await attempts.giveUp(),
        dropped: attempts.dropped,
        leftBehind: true,
      };
    const { draft, dropped } = attempts;
    // A policy's final check may itself have broken a rule of the session.
    if (draft?.breach !== undefined) throw draft.breach.error;
    const { isFinal: isEnd, slices } = returned;
    return { outcome, input, terminal: terminal || isEnd, draft, dropped, slices };
  } catch (thrown) {
    const signal = toHostSignal(thrown, limit.deadline);
    const { draft, dropped } = attempts;
    return { outcome: failureOutcome(toolName, thrown), input, terminal, draft, dropped, signal };
  } finally {
    const releasing = attempts.release();
    if (releasing !== undefined) await releasing;
  }
}

/** What the value that the tool returned says besides its outcome. */
interface Returned {
  isFinal: boolean;
  slices?: SliceChanges | undefined;
}

function judge(
  attempts: Attempts,
  call: Omit<Judged, 'draft'>,
  given: unknown,
  returned: Returned,
): Outcome | Promise<Outcome> {
  const judgeValue = (value: unknown): Outcome | Promise<Outcome> => {
    if (isRecordedEnd(value)) Object.assign(returned, { isFinal: value.terminal, slices: value.slices });
    else returned.isFinal = isFinal(value);
    return judgeResult({ ...call, draft: attempts.openDraft() }, value);
  };
  const value = attempts.finish(given);
  return value instanceof Promise ? value.then(judgeValue) : judgeValue(value);
}

function failureOutcome(toolName: string, thrown: unknown): Outcome {
  if (isA(ToolValidationError, thrown)) {
    return errorOutcome(
      'invalid_input',
      describeError(thrown).message,
      `Invalid arguments for "${toolName}": ${describeError(thrown).message}`,
    );
  }
  if (isA(PolicyDenied, thrown)) return denied(toolName, describeError(thrown).message);
  return errorOutcome('execution', describeError(thrown).message, `"${toolName}" failed: ${errorText(thrown)}`);
}

function isA(type: abstract new (...args: never) => unknown, thrown: unknown): boolean {
  try {
    return thrown instanceof type;
  } catch {
    // It may be a proxy that throws when asked for its prototype.
    return false;
  }
}
