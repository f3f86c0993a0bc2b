import type { Policy } from '../policies/policy.ts';
import { errorText } from '../results/describe-error.ts';
import type { Outcome, Settlement } from '../results/outcome.ts';
import type { LockTicket } from '../session/call-lock.ts';
import type { SessionLayer } from '../session/session-layer.ts';
import type { ResolvedTool } from '../tools/resolved-tool.ts';
import { isEndedByAnswer } from './answered-call.ts';
import { askApproval } from './ask-approval.ts';
import { CallContext } from './call-context.ts';
import type { ActedCall, CallRun } from './call-run.ts';
import { checkBefore, denied, isRule } from './check-policies.ts';
import { notRunOutcome, unrunOutcome } from './cut-off.ts';
import { type DispatchOptions, prepareRun } from './dispatch-options.ts';
import { type Ending, executeTool } from './execute-tool.ts';
import { lookUpTool } from './look-up-tool.ts';
import { isStable, type ParsedInput, parseInput } from './parse-input.ts';
import { recordProviderCall } from './provider-call.ts';
import { errorOutcome, type Stage } from './refusal.ts';
import { settleCall } from './settle-call.ts';
import { shapeOutcome } from './shape-outcome.ts';

/**
 * Runs one call through the whole pipeline: look up, parse, policies, approval, deadline, transaction, execute, output
 * schema, the policies' final check, commit or discard, settle. Resolves with the settlement whatever the tool does;
 * rejects only for options that cannot work, host signals, and a session that could not be restored.
 */
export async function dispatchCall(options: DispatchOptions): Promise<Settlement> {
  return await dispatchRun(prepareRun(options));
}

/**
 * The same for a call whose options are checked already. Every call comes through here, so only promises are awaited:
 * most calls wait for their tool and for nothing else.
 */
export async function dispatchRun(run: CallRun): Promise<Settlement> {
  let ticket: LockTicket | undefined;
  try {
    const reading = readCall(run);
    const read = reading instanceof Promise ? await reading : reading;
    if ('outcome' in read) return await settleCall(run, shapeOutcome(run, read, []));
    // Calls with effects have the session to themselves; calls without effects share it.
    ticket = run.session.lock.enter(read.tool.effects === 'none' ? 'shared' : 'exclusive');
    const waited = ticket.ready === true ? undefined : await run.limit.race(ticket.ready);
    const ending = run.limit.isHit(waited) ? unrun(run, read, notRunOutcome(run, waited)) : perform(run, read);
    const ended = ending instanceof Promise ? await ending : ending;
    const settling = settleCall(run, shapeOutcome(run, ended, read.tool.middleware));
    const settlement = settling instanceof Promise ? await settling : settling;
    if (run.actedOutside) noteActed(run, read.tool, settlement);
    return settlement;
  } finally {
    ticket?.leave();
    run.limit.stop();
  }
}

/** A rewind must know what was done, also inside calls. One that was cut off may have calls inside it that settle later. */
function noteActed(run: CallRun, tool: ResolvedTool, settlement: Settlement): void {
  if (run.outer === undefined && run.onActed === undefined) return;
  run.inside ??= [];
  const acted: ActedCall = { tool, settlement, inside: run.inside, isUndone: false };
  run.onActed?.(acted);
  if (run.outer === undefined) return;
  run.outer.inside ??= [];
  run.outer.inside.push(acted);
}

/** A call whose tool exists and whose arguments fit. */
interface ReadCall extends ParsedInput {
  readonly tool: ResolvedTool;
}

function readCall(run: CallRun): ReadCall | Ending | Promise<ReadCall | Ending> {
  const { written } = run;
  // This comes first, because a tool that cannot work is refused before any event of the call is emitted.
  const found = lookUpTool(run);
  run.emit?.({ type: 'tool-call.start', callId: run.callId, toolName: run.toolName, input: written });
  const known = 'go' in found ? found.go : undefined;
  const recorded = recordProviderCall(run, known);
  if (recorded !== undefined) return { outcome: recorded, input: written, terminal: known?.terminal === true };
  if ('end' in found) return { outcome: found.end, input: written, terminal: false };
  const tool = found.go;
  const parsed = parseInput(run, tool, written, run.read);
  return parsed instanceof Promise ? readLater(run, tool, parsed) : toReadCall(run, tool, parsed);
}

async function readLater(
  run: CallRun,
  tool: ResolvedTool,
  parsing: Promise<Stage<ParsedInput>>,
): Promise<ReadCall | Ending> {
  const parsed = await run.limit.race(parsing);
  return toReadCall(run, tool, run.limit.isHit(parsed) ? { end: notRunOutcome(run, parsed) } : parsed);
}

function toReadCall(run: CallRun, tool: ResolvedTool, parsed: Stage<ParsedInput>): ReadCall | Ending {
  if ('end' in parsed && isEndedByAnswer(run)) return { tool, input: run.shown, args: run.shown };
  if ('end' in parsed) return unrun(run, { tool, input: run.written }, parsed.end);
  const { input, args } = parsed.go;
  return { tool, input, args };
}

function unrun(run: CallRun, { tool, input }: Pick<ReadCall, 'tool' | 'input'>, outcome: Outcome): Ending {
  return { outcome: unrunOutcome(run, outcome), input, terminal: tool.terminal };
}

function perform(run: CallRun, call: ReadCall): Ending | Promise<Ending> {
  run.session.assertUnpoisoned();
  if (!run.session.isOpen) return unrun(run, call, gone(run.toolName));
  if (call.tool.slices.length > 0) run.session.adopt(call.tool.slices);
  return needsPermission(run, call.tool) ? askAndExecute(run, call) : execute(run, call);
}

async function askAndExecute(run: CallRun, call: ReadCall): Promise<Ending> {
  const permitted = await run.limit.race(askPermission(run, call));
  if (run.limit.isHit(permitted)) return unrun(run, call, notRunOutcome(run, permitted));
  if ('go' in permitted) return execute(run, { ...call, input: permitted.go });
  const shown = await run.limit.race(shownInput(call, permitted.end));
  if (run.limit.isHit(shown)) return unrun(run, call, notRunOutcome(run, shown));
  return unrun(run, { tool: call.tool, input: shown }, permitted.end);
}

/**
 * A person reads and edits the arguments of a call that waits for approval, and what they approve goes through the schema. If that would
 * change them a second time, the person gets them as they were before the first.
 */
async function shownInput({ tool, input, args }: ReadCall, { status }: Outcome): Promise<unknown> {
  return status !== 'pending' || (await isStable(tool, input)) ? input : args;
}

function needsPermission(run: CallRun, tool: ResolvedTool): boolean {
  return run.policies.some(isRule) || tool.policies.length > 0 || tool.approval !== false || run.answer !== undefined;
}

function gone(toolName: string): Outcome {
  return errorOutcome(
    'aborted',
    `"${toolName}" did not run: its session was disposed of, or the call around it has ended.`,
  );
}

/** Policies first, then approval. Arguments that the approver edited are checked by the policies again. */
async function askPermission(run: CallRun, call: ReadCall): Promise<Stage<unknown>> {
  const policies = policiesOf(run, call.tool);
  const clash = adoptSlices(run, policies);
  if (clash !== undefined) return { end: clash };
  const session = run.session.open({ readOnly: true });
  try {
    return await askAll(run, call, policies, session);
  } finally {
    await session.discard();
  }
}

async function askAll(
  run: CallRun,
  { tool, input }: ReadCall,
  policies: readonly Policy[],
  session: SessionLayer,
): Promise<Stage<unknown>> {
  const { callId, toolName, logger } = run;
  const ask = (asked: unknown): Promise<Outcome | undefined> =>
    checkBefore(policies, { callId, toolName, input: asked }, { session, logger });
  const refused = await ask(input);
  if (refused !== undefined) return { end: refused };
  const approved = await askApproval(run, tool, input, { ctx: new CallContext(run, session, 0), policies });
  if ('end' in approved || approved.go === input) return approved;
  const refusedEdit = await ask(approved.go);
  return refusedEdit === undefined ? approved : { end: refusedEdit };
}

/** The last check of the limits, then the tool itself, or the answer in its place. */
function execute(run: CallRun, call: ReadCall): Ending | Promise<Ending> {
  const stopped = stoppedBy(run);
  if (stopped !== undefined) return unrun(run, call, stopped);
  run.budget?.add('toolCalls', 1);
  const starting = recordStart(run, call);
  return starting === undefined ? begin(run, call) : beginAfter(starting, run, call);
}

function recordStart(run: CallRun, { tool, input }: ReadCall): void | Promise<void> {
  const own = run.onStart?.(tool, input);
  if (tool.effects !== 'external' || run.outer === undefined) return own;
  // After a crash the calls around it must not simply run again, whatever their tools declare.
  const all = [own, ...around(run).map((one) => one.onActInside?.())].filter((one) => one instanceof Promise);
  return all.length === 0 ? undefined : Promise.all(all).then(() => undefined);
}

/** The calls inside which this one was made, the nearest first. */
function around(run: CallRun): readonly CallRun[] {
  const outer: CallRun[] = [];
  for (let one = run.outer; one !== undefined; one = one.outer) outer.push(one);
  return outer;
}

/** Its time may have passed while its start was recorded. */
async function beginAfter(starting: Promise<void>, run: CallRun, call: ReadCall): Promise<Ending> {
  await starting;
  const { hit } = run.limit;
  return hit === undefined ? await begin(run, call) : unrun(run, call, notRunOutcome(run, hit));
}

function begin(run: CallRun, { tool, input }: ReadCall): Promise<Ending> {
  if (tool.timeoutMs !== undefined) run.limit.allow(tool.timeoutMs);
  return executeTool(run, tool, input, policiesOf(run, tool).filter(isRule));
}

function stoppedBy(run: CallRun): Outcome | undefined {
  const { hit } = run.limit;
  if (hit !== undefined) return notRunOutcome(run, hit);
  const exhausted = run.budget?.exhausted();
  if (exhausted === undefined) return undefined;
  const message = `The budget is used up: ${exhausted} (${run.budget?.limits[exhausted]}).`;
  return errorOutcome('budget', message, `"${run.toolName}" did not run. ${message}`);
}

/** A policy that cannot keep its state cannot decide, so it denies. */
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
