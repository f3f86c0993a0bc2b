import { CallContext } from '../dispatch/call-context.ts';
import type { ActedCall, CallRun } from '../dispatch/call-run.ts';
import { denied } from '../dispatch/check-policies.ts';
import { errorText } from '../results/describe-error.ts';
import type { Outcome, Settlement } from '../results/outcome.ts';
import { renderValue } from '../results/render.ts';
import type { ResolvedTool } from '../tools/resolved-tool.ts';
import { userMessage } from '../transcript/message.ts';
import { cancelled } from './batch-rules.ts';
import { toolNamed } from './offer-tools.ts';
import { record, settleUnrun } from './record.ts';
import type { StepTools } from './step-tools.ts';
import type { Turn } from './turn.ts';

/** Why a rewind is denied, if it is. Nothing has changed then. */
export function rewindRefusal(turn: Turn, step: StepTools): Outcome | undefined {
  const { max = DEFAULT_REWINDS } = turn.options.rewind ?? {};
  if (turn.checkpoint === undefined)
    return denied('rewind', 'the turn was resumed since, and its checkpoint is no longer available. Go on from here');
  if (turn.progress.rewinds >= max)
    return denied(
      'rewind',
      `this turn was rewound ${turn.progress.rewinds} times, which is the maximum. Go on from here`,
    );
  const { sinceCheckpoint } = turn.progress;
  const unknown = sinceCheckpoint.find((settlement) => isUnknownInside(turn, step, settlement));
  if (unknown !== undefined)
    return denied(
      'rewind',
      `a call inside "${unknown.toolName}" may have taken effect before the process ended. Go on from here`,
    );
  const own = [...sinceCheckpoint, ...waitingSince(turn)].find((settlement) => {
    const tool = toolOf(turn, step, settlement);
    return tool?.forbidsRewind === true && (mayHaveActed(turn, settlement) || hasRunAndWaited(turn, tool, settlement));
  });
  const inside = sinceCheckpoint.flatMap(({ callId }) => insideOf(turn, callId));
  const forbidding = own ?? findForbidding(inside)?.settlement;
  return forbidding === undefined
    ? undefined
    : denied('rewind', `"${forbidding.toolName}" has taken effect and forbids going back past it`);
}

function insideOf({ checkpoint }: Turn, callId: string): readonly ActedCall[] {
  return checkpoint?.acted.get(callId)?.inside ?? [];
}

function findForbidding(calls: readonly ActedCall[]): ActedCall | undefined {
  for (const one of calls) {
    if (one.isUndone) continue;
    const isOne = one.tool.forbidsRewind && succeededOrLeft(one.settlement);
    const found = isOne ? one : findForbidding(one.inside);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Whether a call of a tool that does not act itself made calls that did, in a process that has ended: its start is recorded only then. Which
 * calls these were, and whether they forbid a rewind, is not known any more.
 */
function isUnknownInside(turn: Turn, step: StepTools, settlement: Settlement): boolean {
  const { callId } = settlement;
  if (!turn.progress.started.has(callId) || turn.checkpoint?.acted.has(callId) === true) return false;
  const tool = toolOf(turn, step, settlement);
  return tool !== undefined && tool.effects !== 'external' && succeededOrLeft(settlement);
}

export const DEFAULT_REWINDS = 2;

/** Goes back to the checkpoint and tells the model why, and which effects could not be undone. */
export async function rewind(turn: Turn, step: StepTools, settlement: Settlement): Promise<void> {
  const { checkpoint } = turn;
  if (checkpoint === undefined) return await tellLost(turn);
  const { reason, guidance } = settlement.input as { reason: string; guidance: string };
  await cancelWaiting(turn);
  const remaining = [...turn.progress.remaining, ...(await compensateAll(turn, step))];
  await checkpoint.restore(turn);
  const areFilesLeft = checkpoint.isReplayed && turn.session.filesystem.isJournaled !== true;
  const text = rewindText({ reason, guidance, remaining, areFilesLeft });
  await record(turn, { kind: 'rewind', callId: settlement.callId, text, remaining });
  turn.emit?.({ type: 'rewind', step: turn.progress.steps, reason, guidance });
}

/** The process ended between the call and the rewind. Nothing was undone, and the model must know that. */
async function tellLost(turn: Turn): Promise<void> {
  const text = 'The rewind did not take place: the turn was interrupted. Nothing was undone. Go on from here.';
  await record(turn, { kind: 'message', message: userMessage(text) });
}

/** The calls that began to wait since the checkpoint. Those from before it are left alone. */
function waitingSince({ progress: { waiting, waitedBefore } }: Turn): readonly Settlement[] {
  return [...waiting.values()].flatMap(({ settlement }) => (waitedBefore.has(settlement.callId) ? [] : [settlement]));
}

async function cancelWaiting(turn: Turn): Promise<void> {
  for (const settlement of waitingSince(turn)) await settleUnrun(turn, settlement, cancelled('the turn was rewound'));
}

async function compensateAll(turn: Turn, step: StepTools): Promise<readonly string[]> {
  const remaining: string[] = [];
  for (const settlement of turn.progress.sinceCheckpoint.toReversed()) {
    if (turn.options.rewind?.stands?.(settlement) === true) {
      remaining.push(callText(settlement));
      continue;
    }
    const tool = toolOf(turn, step, settlement);
    if (tool === undefined) continue;
    const { callId } = settlement;
    const known = turn.checkpoint?.acted.get(callId);
    // It may have waited when it acted, and have been answered since.
    const call: ActedCall = { tool, settlement, inside: known?.inside ?? [], isUndone: false };
    const did = actedOutside(turn, tool, settlement);
    remaining.push(...(await undoCall(turn, step, { call, callId, did })));
    if (known !== undefined) known.isUndone = call.isUndone;
  }
  return remaining.reverse();
}

interface Undoing {
  readonly call: ActedCall;
  /** The call of the turn: calls inside it are not in the transcript. */
  readonly callId: string;
  /** True if the tool itself may have acted. */
  readonly did: boolean;
}

/** Undoes a call, or else what was done inside it, the last first. Returns what remains, the last first. */
async function undoCall(turn: Turn, step: StepTools, { call, callId, did }: Undoing): Promise<readonly string[]> {
  const { tool, settlement } = call;
  const inside = call.inside.filter(({ isUndone }) => !isUndone);
  const isOk = settlement.outcome.status === 'ok';
  if (isOk && tool.compensate !== undefined && (did || inside.length > 0)) {
    const said = await compensate(turn, step, call, callId);
    call.isUndone = said === undefined;
    return said === undefined ? [] : [said];
  }
  const remaining: string[] = [];
  for (const one of inside.toReversed()) {
    const acted = one.tool.effects === 'external' && succeededOrLeft(one.settlement);
    remaining.push(...(await undoCall(turn, step, { call: one, callId, did: acted })));
  }
  if (did) remaining.push(`${callText(settlement)}${isOk ? '' : ' (it did not finish, and may have taken effect)'}`);
  return remaining;
}

/** Returns the tool as it was when it ran: a later step may have another set of tools. */
function toolOf(turn: Turn, step: StepTools, { callId, toolName }: Settlement): ResolvedTool | undefined {
  return turn.checkpoint?.ran.get(callId) ?? toolNamed(step.tools, toolName);
}

/**
 * A call that was cut off records whether something inside it acted outside; for any other, its tool's declaration
 * decides.
 */
function actedOutside(turn: Turn, tool: ResolvedTool, settlement: Settlement): boolean {
  const { outcome } = settlement;
  if (outcome.status === 'error' && outcome.effect !== undefined) return outcome.effect === 'possible';
  return tool.effects === 'external' && (mayHaveActed(turn, settlement) || hasRunAndWaited(turn, tool, settlement));
}

/** True for a call whose tool ran and then waits for an answer, or never got one: what it did outside stands. */
function hasRunAndWaited({ transcript }: Turn, { execute }: ResolvedTool, { callId, outcome }: Settlement): boolean {
  const isUnanswered =
    outcome.status === 'pending' ||
    outcome.status === 'cancelled' ||
    (outcome.status === 'error' && outcome.code === 'expired');
  if (!isUnanswered || execute === undefined) return false;
  const wait = transcript.entries.findLast((entry) => entry.kind === 'pending' && entry.settlement.callId === callId);
  return (
    wait?.kind === 'pending' &&
    wait.settlement.outcome.status === 'pending' &&
    wait.settlement.outcome.kind !== 'approval'
  );
}

/** True for a call that succeeded, or that was abandoned while it ran: it is not known how far that came. */
function mayHaveActed(turn: Turn, settlement: Settlement): boolean {
  if (!succeededOrLeft(settlement)) return false;
  const { callId, outcome } = settlement;
  return outcome.status === 'ok' || turn.checkpoint?.ran.has(callId) === true || turn.progress.started.has(callId);
}

function succeededOrLeft({ outcome }: Settlement): boolean {
  if (outcome.status === 'ok') return true;
  if (outcome.status !== 'error') return false;
  return outcome.code === 'timeout' || outcome.code === 'aborted' || outcome.code === 'unknown_outcome';
}

const INTERRUPTED = ' (undoing it was interrupted)';

/** Whether it is not known if a call that a rewind lists as remaining was undone. */
export function isUndoingInterrupted(remaining: string): boolean {
  return remaining.endsWith(INTERRUPTED);
}

/** Calls the tool's `compensate`. Returns what remains of the call's effect, if anything does. */
async function compensate(
  turn: Turn,
  step: StepTools,
  { tool, settlement }: ActedCall,
  callId: string,
): Promise<string | undefined> {
  const { toolName, input, outcome } = settlement;
  const what = callText(settlement);
  const isOwn = settlement.callId === callId;
  if (isOwn && turn.progress.compensated.has(callId) && !tool.idempotent) return `${what}${INTERRUPTED}`;
  if (turn.options.journal !== undefined) await record(turn, { kind: 'compensating', callId });
  try {
    const ctx = new CallContext(compensationRun(turn, step, settlement), turn.session.open({ readOnly: true }), 1);
    const undoing = Promise.resolve(
      tool.compensate?.((outcome as { value?: unknown }).value as never, input as never, ctx as never),
    );
    const ended = await turn.limit.race(undoing);
    if (turn.limit.isHit(ended)) return `${what} (undoing it did not finish)`;
    return undefined;
  } catch (error) {
    turn.logger.error(`"${toolName}" could not be compensated.`, error);
    return `${what} (undoing it failed: ${errorText(error)})`;
  }
}

/** How a call is named in the list of what still stands. */
function callText({ toolName, input }: Settlement): string {
  return `${toolName} ${renderValue(input)}`;
}

function compensationRun(turn: Turn, step: StepTools, { callId, toolName, input }: Settlement): CallRun {
  const { session, limit, budget, clock, logger } = turn;
  const nothing = undefined;
  return {
    tools: step.tools,
    callId,
    toolName,
    written: input,
    idempotencyKey: `${callId}:compensate`,
    provided: nothing,
    answer: nothing,
    pendingAnswered: false,
    session,
    limit,
    hostDeadline: turn.deadline,
    budget,
    policies: [],
    middleware: [],
    messages: () => [],
    prompt: nothing,
    clock,
    logger,
    startedAt: clock.now(),
    onStart: nothing,
    onSettle: nothing,
    outer: turn.outer,
    actedOutside: false,
    runTurn: nothing,
    emit: nothing,
  };
}

function rewindText(rewound: {
  readonly reason: string;
  readonly guidance: string;
  readonly remaining: readonly string[];
  readonly areFilesLeft: boolean;
}): string {
  const { reason, guidance, remaining, areFilesLeft } = rewound;
  const lines = [
    'You went back to this point. What you did since has been undone.',
    '',
    `Why: ${reason}`,
    `What to do now: ${guidance}`,
  ];
  if (remaining.length > 0)
    lines.push('', 'These calls took effect outside and still stand:', ...remaining.map((one) => `- ${one}`));
  if (areFilesLeft) lines.push('', 'The turn was interrupted: files written before that are as they were left.');
  return lines.join('\n');
}
