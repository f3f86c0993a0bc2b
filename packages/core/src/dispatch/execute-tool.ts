import { PolicyDenied, ToolValidationError } from '../errors.ts';
import type { Policy } from '../policies/policy.ts';
import { describeError, errorText } from '../results/describe-error.ts';
import type { Outcome } from '../results/outcome.ts';
import type { SessionLayer } from '../session/session-layer.ts';
import type { ResolvedTool } from '../tools/resolved-tool.ts';
import { Attempts } from './attempts.ts';
import type { LimitHit } from './call-limit.ts';
import type { CallRun } from './call-run.ts';
import { denied } from './check-policies.ts';
import { toHostSignal } from './host-signal.ts';
import { judgeResult } from './judge-result.ts';
import { errorOutcome } from './refusal.ts';

/** How a call ended, and the draft that holds what its tool did, still to be committed or discarded. */
export interface Ending {
  readonly outcome: Outcome;
  /** As the tool got it; as the model wrote it, where it did not come so far. */
  readonly input: unknown;
  readonly terminal: boolean;
  readonly draft?: SessionLayer | undefined;
  /** Leaves the loop to the host, once the call is settled. */
  readonly signal?: Error | undefined;
  /** The tool was left behind: nobody waits for it to clean up. */
  readonly leftBehind?: true;
}

/** Runs the tool against its limits. Never throws for what the tool does. */
export async function executeTool(
  run: CallRun,
  tool: ResolvedTool,
  input: unknown,
  policies: readonly Policy[],
): Promise<Ending> {
  const attempts = new Attempts(run, tool, policies);
  const ended = await run.limit.race(runAndJudge(run, tool, input, policies, attempts));
  const releasing = attempts.release();
  if (releasing !== undefined) await releasing;
  if (!run.limit.isHit(ended)) return ended;
  const draft = await attempts.giveUp();
  return { outcome: limitOutcome(run.toolName, ended), input, terminal: tool.terminal, draft, leftBehind: true };
}

export function limitOutcome(toolName: string, hit: LimitHit): Outcome {
  const message = `"${toolName}" did not finish: ${hit.message}.`;
  return errorOutcome(hit.code, message, `${message} Nothing it wrote remains.`);
}

async function runAndJudge(
  run: CallRun,
  tool: ResolvedTool,
  input: unknown,
  policies: readonly Policy[],
  attempts: Attempts,
): Promise<Ending> {
  const terminal = tool.terminal;
  let draft: SessionLayer | undefined;
  try {
    const returned = await attempts.start(input);
    // A middleware that did not wait for the tool has its answer; what the tool did so far is undone.
    if (attempts.isRunning) await (await attempts.giveUp())?.discard();
    if (attempts.signal !== undefined) throw attempts.signal;
    draft = attempts.draft ?? run.session.open({ readOnly: true });
    const judging = judgeResult({ run, tool, input, policies, draft }, returned);
    const outcome = judging instanceof Promise ? await judging : judging;
    // A policy's last word may have broken a rule of the session itself.
    if (draft.breach !== undefined) throw draft.breach.error;
    return { outcome, input, terminal, draft };
  } catch (thrown) {
    const signal = toHostSignal(thrown, run.limit.deadline);
    return { outcome: failureOutcome(run.toolName, thrown), input, terminal, draft: draft ?? attempts.draft, signal };
  }
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
    // A proxy that throws when asked for its prototype.
    return false;
  }
}
