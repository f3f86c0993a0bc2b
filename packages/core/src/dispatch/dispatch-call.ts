import type { Policy } from '../policies/policy.ts';
import { errorText } from '../results/describe-error.ts';
import type { Outcome, Settlement } from '../results/outcome.ts';
import type { SessionLayer } from '../session/session-layer.ts';
import type { ResolvedTool } from '../tools/resolved-tool.ts';
import { askApproval } from './ask-approval.ts';
import { CallContext } from './call-context.ts';
import type { CallRun } from './call-run.ts';
import { checkBefore, denied } from './check-policies.ts';
import { type DispatchOptions, prepareRun } from './dispatch-options.ts';
import { type Ending, executeTool, limitOutcome } from './execute-tool.ts';
import { lookUpTool } from './look-up-tool.ts';
import { parseInput } from './parse-input.ts';
import { recordProviderCall } from './provider-call.ts';
import { errorOutcome, type Stage } from './refusal.ts';
import { settleCall } from './settle-call.ts';

/**
 * One call through the whole pipeline: look up, parse, policies, approval, deadline, transaction, execute, output schema,
 * the policies' last word, commit or discard, settle. Resolves with the settlement whatever the tool does; rejects only
 * for options that cannot work, the host's own signals, and a session that could not be restored.
 */
export async function dispatchCall(options: DispatchOptions): Promise<Settlement> {
  return await dispatchRun(prepareRun(options));
}

/** The same for a call whose options are checked already. */
export async function dispatchRun(run: CallRun): Promise<Settlement> {
  try {
    return await travel(run);
  } finally {
    run.limit.stop();
  }
}

function travel(run: CallRun): Settlement | Promise<Settlement> {
  // First, because a tool that cannot work is refused before anything is told of the call.
  const found = lookUpTool(run);
  run.emit?.({ type: 'tool-call.start', callId: run.callId, toolName: run.toolName, input: run.written });
  if ('end' in found) return settleCall(run, { outcome: found.end, input: run.written, terminal: false });
  const recorded = recordProviderCall(run, found.go);
  if (recorded !== undefined)
    return settleCall(run, { outcome: recorded, input: run.written, terminal: found.go.terminal });
  const parsed = parseInput(run, found.go, run.written);
  return parsed instanceof Promise ? goOnLater(run, found.go, parsed) : goOn(run, found.go, parsed);
}

async function goOnLater(run: CallRun, tool: ResolvedTool, parsing: Promise<Stage<unknown>>): Promise<Settlement> {
  const parsed = await run.limit.race(parsing);
  if (run.limit.isHit(parsed))
    return settleCall(run, {
      outcome: limitOutcome(run.toolName, parsed),
      input: run.written,
      terminal: tool.terminal,
    });
  return goOn(run, tool, parsed);
}

function goOn(run: CallRun, tool: ResolvedTool, parsed: Stage<unknown>): Settlement | Promise<Settlement> {
  if ('end' in parsed) return settleCall(run, { outcome: parsed.end, input: run.written, terminal: tool.terminal });
  return inTurn(run, tool, parsed.go);
}

/** Calls with effects have the session to themselves; calls without share it among themselves. */
async function inTurn(run: CallRun, tool: ResolvedTool, input: unknown): Promise<Settlement> {
  const ticket = run.session.lock.enter(tool.effects === 'none' ? 'shared' : 'exclusive');
  try {
    const waited = ticket.ready === true ? undefined : await run.limit.race(ticket.ready);
    if (run.limit.isHit(waited))
      return await settleCall(run, { input, terminal: tool.terminal, outcome: limitOutcome(run.toolName, waited) });
    run.session.assertUnpoisoned();
    if (!run.session.isOpen)
      return await settleCall(run, { outcome: gone(run.toolName), input, terminal: tool.terminal });
    return await settleCall(run, await permitAndExecute(run, tool, input));
  } finally {
    ticket.leave();
  }
}

function permitAndExecute(run: CallRun, tool: ResolvedTool, input: unknown): Ending | Promise<Ending> {
  return needsPermission(run, tool) ? askAndExecute(run, tool, input) : execute(run, tool, input);
}

async function askAndExecute(run: CallRun, tool: ResolvedTool, input: unknown): Promise<Ending> {
  const permitted = await run.limit.race(askPermission(run, tool, input));
  if (run.limit.isHit(permitted))
    return { outcome: limitOutcome(run.toolName, permitted), input, terminal: tool.terminal };
  if ('end' in permitted) return { outcome: permitted.end, input, terminal: tool.terminal };
  return execute(run, tool, permitted.go);
}

function needsPermission(run: CallRun, tool: ResolvedTool): boolean {
  return run.policies.length > 0 || tool.policies.length > 0 || tool.approval !== false || run.answer !== undefined;
}

function gone(toolName: string): Outcome {
  return errorOutcome(
    'aborted',
    `"${toolName}" did not run: its session was disposed of, or the call around it has ended.`,
  );
}

/** Policies first, then approval. Arguments edited by whoever approved them are held to the policies again. */
async function askPermission(run: CallRun, tool: ResolvedTool, input: unknown): Promise<Stage<unknown>> {
  const policies = policiesOf(run, tool);
  const clash = adoptSlices(run, policies);
  if (clash !== undefined) return { end: clash };
  const session = run.session.open({ readOnly: true });
  try {
    return await askAll(run, tool, input, policies, session);
  } finally {
    await session.discard();
  }
}

async function askAll(
  run: CallRun,
  tool: ResolvedTool,
  input: unknown,
  policies: readonly Policy[],
  session: SessionLayer,
): Promise<Stage<unknown>> {
  const { callId, toolName, logger } = run;
  const ask = (asked: unknown): Promise<Outcome | undefined> =>
    checkBefore(policies, { callId, toolName, input: asked }, { session, logger });
  const refused = await ask(input);
  if (refused !== undefined) return { end: refused };
  const approved = await askApproval(run, tool, input, new CallContext(run, session, 0));
  if ('end' in approved || approved.go === input) return approved;
  const refusedEdit = await ask(approved.go);
  return refusedEdit === undefined ? approved : { end: refusedEdit };
}

/** The last look at the limits, then the tool itself, or whoever answers in its place. */
function execute(run: CallRun, tool: ResolvedTool, input: unknown): Ending | Promise<Ending> {
  const stopped = stoppedBy(run);
  if (stopped !== undefined) return { outcome: stopped, input, terminal: tool.terminal };
  run.budget?.add('toolCalls', 1);
  const starting = run.onStart?.(tool);
  return starting === undefined ? begin(run, tool, input) : starting.then(() => begin(run, tool, input));
}

function begin(run: CallRun, tool: ResolvedTool, input: unknown): Promise<Ending> {
  if (tool.timeoutMs !== undefined) run.limit.allow(tool.timeoutMs);
  return executeTool(run, tool, input, policiesOf(run, tool));
}

function stoppedBy(run: CallRun): Outcome | undefined {
  const { hit } = run.limit;
  if (hit !== undefined) return limitOutcome(run.toolName, hit);
  const exhausted = run.budget?.exhausted();
  if (exhausted === undefined) return undefined;
  const message = `The budget is used up: ${exhausted} (${run.budget?.limits[exhausted]}).`;
  return errorOutcome('budget', message, `"${run.toolName}" did not run. ${message}`);
}

/** A policy that cannot keep its state cannot judge: it denies. */
function adoptSlices(run: CallRun, policies: readonly Policy[]): Outcome | undefined {
  try {
    run.session.adopt(policies.flatMap((policy) => policy.slices ?? []));
    return undefined;
  } catch (error) {
    return denied(run.toolName, errorText(error));
  }
}

function policiesOf(run: CallRun, tool: ResolvedTool): readonly Policy[] {
  if (run.policies.length === 0) return tool.policies;
  return tool.policies.length === 0 ? run.policies : [...run.policies, ...tool.policies];
}
