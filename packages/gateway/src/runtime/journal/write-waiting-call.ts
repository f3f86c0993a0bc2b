import { answerersById } from '../../domain/calls/answerers-by-id.ts';
import { offerJob } from '../../domain/calls/job-events.ts';
import { openWait } from '../../domain/calls/open-wait.ts';
import { toCardCall } from '../../domain/calls/to-card-call.ts';
import type { CardCall } from '../../domain/spaces/card-call.ts';
import { openCardIfAllowed, updateCard } from '../../domain/spaces/tool-card.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { WaitWrite } from '../run/run-write.ts';
import type { ApplyContext } from './apply-context.ts';
import { endUnseenCall } from './unended-calls.ts';

/** Stores a call that waits for an answer, and opens the card that asks for it. */
export async function writeWaitingCall(context: ApplyContext, tx: Tx, write: WaitWrite): Promise<void> {
  const { run, toolNamed } = context;
  const { call, spaceId } = write;
  const tool = toolNamed(call.toolName);
  const question = call.kind === 'input' ? context.questions.of(call.callId) : undefined;
  // Who answers a call of a fork does not depend on a tool.
  const { answerers = tool?.answerers } = (run.fork === undefined ? question : undefined) ?? {};
  const opened = {
    ...call,
    threadId: run.lease.threadId,
    agentId: run.agent.id,
    runId: run.runId,
    spaceId,
    node: context.nodeOf?.(call.callId),
    display: question === undefined ? (tool?.display ?? call.display) : call.display,
    answeredBy: await answerersById(tx.db, run.agent.id, answerers),
    resultSchema: question?.schema ?? tool?.resultSchema,
    resumeState: question?.resumeState,
    inputSchema: await tool?.inputSchema(),
    isJob: tool?.isJob,
    isFork: run.fork !== undefined,
    askedDefinition: call.kind === 'approval' ? await context.definitionOf(call.toolName) : undefined,
  };
  const round = await openWait(tx, opened);
  if (tool?.isJob === true && call.kind === 'result') offerJob(tx, { ...opened, claims: 0 });
  if (spaceId !== null) await askInSpace(context, tx, { ...write, spaceId, shown: toCardCall(opened, round) });
}

async function askInSpace(
  { run, nodeOf }: ApplyContext,
  tx: Tx,
  { call, spaceId, rawInput, shown }: WaitWrite & { spaceId: string; shown: CardCall },
): Promise<void> {
  const { callId, toolName, input } = call;
  const { runId, agent } = run;
  const status = 'requires_action';
  const card = {
    node: nodeOf?.(callId),
    spaceId,
    entityId: agent.entityId,
    runId,
    callId,
    toolName,
    input,
    status,
    rawInput,
    call: shown,
  } as const;
  const asked = (await updateCard(tx, callId, { status, call: shown })) ?? (await openCardIfAllowed(tx, card));
  // The agent was removed from the space, or the space was archived. Operators still see the call.
  if (asked === undefined && rawInput === undefined) endUnseenCall(tx, { callId, spaceId });
}
