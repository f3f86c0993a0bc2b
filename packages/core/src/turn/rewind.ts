import { CallContext } from '../dispatch/call-context.ts';
import { denied } from '../dispatch/check-policies.ts';
import { errorText } from '../results/describe-error.ts';
import type { Outcome, Settlement } from '../results/outcome.ts';
import { cancelled } from './batch-rules.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { StepTools } from './step-tools.ts';
import { toolNamed } from './step-tools.ts';
import { record, settleUnrun, type Turn } from './turn.ts';

/** Why a rewind is denied, if it is. Nothing has changed then. */
export function rewindRefusal(turn: Turn, step: StepTools): Outcome | undefined {
  const { max = DEFAULT_REWINDS } = turn.options.rewind ?? {};
  if (turn.progress.rewinds >= max)
    return denied(
      'rewind',
      `this turn was rewound ${turn.progress.rewinds} times, and that is the most. Go on from here`,
    );
  const forbidding = effectsSince(turn, step).find(
    ({ toolName }) => toolNamed(step.tools, toolName)?.forbidsRewind === true,
  );
  return forbidding === undefined
    ? undefined
    : denied('rewind', `"${forbidding.toolName}" has taken effect and forbids going back past it`);
}

export const DEFAULT_REWINDS = 2;

/** Goes back to the checkpoint and tells the model why, and what of its doings could not be taken back. */
export async function rewind(
  turn: Turn,
  step: StepTools,
  checkpoint: Checkpoint,
  settlement: Settlement,
): Promise<void> {
  const { reason, guidance } = settlement.input as { reason: string; guidance: string };
  for (const { call, settlement: waiting } of [...turn.progress.waiting.values()]) {
    await settleUnrun(turn, { ...call, input: waiting.input }, cancelled('the turn was rewound'));
  }
  const remaining = await compensateAll(turn, step);
  await checkpoint.restore();
  await record(turn, { kind: 'rewind', callId: settlement.callId, text: rewindText(reason, guidance, remaining) });
  turn.emit?.({ type: 'rewind', step: turn.progress.steps, reason, guidance });
}

/** Calls with outside effects since the checkpoint, newest first, that a rewind would have to leave standing. */
export function effectsSince(turn: Turn, step: StepTools): readonly Settlement[] {
  const done = turn.progress.sinceCheckpoint.filter(({ outcome }) => outcome.status === 'ok');
  return done.filter(({ toolName }) => toolNamed(step.tools, toolName)?.effects === 'external').reverse();
}

async function compensateAll(turn: Turn, step: StepTools): Promise<readonly string[]> {
  const remaining: string[] = [];
  for (const settlement of effectsSince(turn, step)) {
    const said = await compensate(turn, step, settlement);
    if (said !== undefined) remaining.push(said);
  }
  return remaining.reverse();
}

/** What remains of a call's effect, if anything does. */
async function compensate(turn: Turn, step: StepTools, settlement: Settlement): Promise<string | undefined> {
  const { toolName, input, outcome } = settlement;
  const what = `${toolName} ${JSON.stringify(input)}`;
  const tool = toolNamed(step.tools, toolName);
  if (outcome.status !== 'ok' || tool?.compensate === undefined) return what;
  try {
    const layer = turn.session.open({ readOnly: true });
    await tool.compensate(
      outcome.value as never,
      input as never,
      new CallContext(compensationRun(turn, step, settlement), layer, 1) as never,
    );
    return undefined;
  } catch (error) {
    turn.logger.error(`"${toolName}" could not be compensated.`, error);
    return `${what} (undoing it failed: ${errorText(error)})`;
  }
}

function compensationRun(
  turn: Turn,
  step: StepTools,
  { callId, toolName, input }: Settlement,
): ConstructorParameters<typeof CallContext>[0] {
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
    budget,
    policies: [],
    middleware: [],
    messages: [],
    prompt: nothing,
    clock,
    logger,
    startedAt: clock.now(),
    onStart: nothing,
    onSettle: nothing,
    runTurn: nothing,
    emit: nothing,
  };
}

function rewindText(reason: string, guidance: string, remaining: readonly string[]): string {
  const lines = [
    'You went back to this point. What you did since has been undone.',
    '',
    `Why: ${reason}`,
    `What to do now: ${guidance}`,
  ];
  if (remaining.length > 0)
    lines.push('', 'These calls took effect outside and still stand:', ...remaining.map((one) => `- ${one}`));
  return lines.join('\n');
}
