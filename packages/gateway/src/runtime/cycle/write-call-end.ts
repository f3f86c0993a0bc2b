import type { Settlement } from '@lastcall/core';
import { ApiError } from '../../domain/api-error.ts';
import { openPending } from '../../domain/pending/open-pending.ts';
import { assertNotCancelled } from '../../domain/runs/run-cancelled.ts';
import { openCardIfMember, updateCard } from '../../domain/spaces/tool-card.ts';
import { emit, runChannel } from '../../domain/streams/emit.ts';
import type { Services } from '../../ports/services.ts';
import { pipeline } from '../../ports/store/pipeline.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { Json, MessageStatus } from '../../ports/store/tables.ts';
import { hideTagIn } from '../../telemetry/hide-tag.ts';
import type { StagedWrite } from '../tools/built-in-context.ts';
import { endCall } from './call-rows.ts';
import type { Cycle } from './cycle.ts';
import type { CycleTool } from './cycle-tools.ts';
import type { LiveCalls } from './live-calls.ts';
import { rawInput } from './raw-input.ts';
import { StagedWriteRefused } from './staged-write-refused.ts';
import type { StagedWrites } from './staged-writes.ts';
import { endUnendedCall } from './unended-calls.ts';

/** What the end of a call is written with. */
export interface CallEndContext {
  readonly services: Services;
  readonly cycle: Cycle;
  readonly live: LiveCalls;
  readonly stagedWrites: StagedWrites;
  readonly toolNamed: (name: string) => CycleTool | undefined;
}

/** Writes the end of a call with all that belongs to it: its row, its staged writes, its card and its event on the run's stream. */
export async function writeCallEnd(
  context: CallEndContext,
  tx: Tx,
  settlement: Settlement,
  outcomeJson: Json,
): Promise<void> {
  const { services, cycle, stagedWrites } = context;
  const { callId, toolName, input, outcome } = settlement;
  const isPending = outcome.status === 'pending';
  const ended = isPending
    ? ({ status: 'pending', settledAt: null } as const)
    : ({ status: 'settled', settledAt: tx.now() } as const);
  tx.send(endCall, { callId, outcome: outcomeJson, ...ended });
  const appliesWrites = outcome.status === 'ok' || isPending;
  const writes = appliesWrites ? stagedWrites.get(callId) : [];
  // Sent before the writes, which wait for answers anyway. It guarantees that nothing is written after a cancel was
  // accepted.
  if (isPending || writes.length > 0) await pipeline(assertNotCancelled(tx, cycle.runId), applyStaged(tx, writes));
  if (isPending) await writePendingCall(context, tx, settlement);
  else if (cycle.cards.has(callId))
    await updateCard(services, tx, callId, { status: CARD_STATUS[outcome.status], output: outputOf(outcome) });
  const payload = hideTagIn({ callId, toolName, input, outcome }, cycle.agent.tag);
  emit(services, tx, { channel: runChannel(cycle.runId), type: END_TYPES[outcome.status], payload });
}

/** Stores a call that somebody else will answer, and opens the card that asks them. */
async function writePendingCall(
  { services, cycle, live, toolNamed }: CallEndContext,
  tx: Tx,
  { callId, toolName, input, outcome }: Settlement,
): Promise<void> {
  if (outcome.status !== 'pending') return;
  const tool = toolNamed(toolName);
  const shownSpaceId = live.spaceOf(callId);
  // A call that no space sees is answered by operators and by those whom the tool names.
  const spaceId = tool?.isVisible === true ? (shownSpaceId ?? cycle.activeSpaceId) : null;
  await openPending(tx, {
    callId,
    agentId: cycle.agent.id,
    runId: cycle.runId,
    spaceId,
    toolName,
    kind: outcome.kind,
    input,
    display: tool?.display ?? outcome.display,
    answeredBy: tool?.answerers,
    resultSchema: tool?.resultSchema,
    inputSchema: await tool?.inputSchema(),
    expiresAt: outcome.expiresAt ?? (tool?.expiresInMs === undefined ? undefined : tx.now() + tool.expiresInMs),
  });
  if (spaceId === null) return;
  const { runId, agent } = cycle;
  const card = { spaceId, entityId: agent.entityId, runId, callId, toolName, input };
  const status = 'requires_action';
  const rawText = rawInput(cycle.transcript, callId);
  const asked =
    (await updateCard(services, tx, callId, { status })) ??
    (await openCardIfMember(services, tx, {
      ...card,
      status,
      ...(shownSpaceId === undefined ? { rawInput: rawText } : {}),
    }));
  // The agent was removed from the space. Operators still see the call.
  if (asked === undefined && shownSpaceId !== undefined)
    endUnendedCall(services, tx, { callId, kind: 'tool', spaceId }, 'The agent is no longer in the space.');
  tx.afterCommit(() => {
    live.forget(callId);
    cycle.cards.add(callId);
  });
}

async function applyStaged(tx: Tx, writes: readonly StagedWrite[]): Promise<void> {
  try {
    for (const write of writes) await write(tx);
  } catch (error) {
    throw error instanceof ApiError ? new StagedWriteRefused(error) : error;
  }
}

const CARD_STATUS: Readonly<Record<Settlement['outcome']['status'], MessageStatus>> = {
  ok: 'complete',
  error: 'error',
  cancelled: 'cancelled',
  skipped: 'cancelled',
  pending: 'requires_action',
};

function outputOf(outcome: Settlement['outcome']): unknown {
  return outcome.status === 'ok' ? outcome.value : outcome.text;
}

const END_TYPES: Readonly<Record<Settlement['outcome']['status'], string>> = {
  ok: 'tool-call.complete',
  error: 'tool-call.error',
  cancelled: 'tool-call.cancelled',
  skipped: 'tool-call.skipped',
  pending: 'tool-call.pending',
};
