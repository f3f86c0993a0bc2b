import { sql } from 'kysely';
import type { Services } from '../../ports/services.ts';
import { COLUMNS } from '../../ports/store/columns.ts';
import { fromJson, toJson } from '../../ports/store/json.ts';
import { pipeline } from '../../ports/store/pipeline.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { MessageRow, MessageStatus } from '../../ports/store/tables.ts';
import { ApiError } from '../api-error.ts';
import { emit, spaceChannel } from '../streams/emit.ts';
import { appendMessage } from './append-message.ts';
import { lockSpace } from './lock-space.ts';
import { requireMember } from './membership.ts';
import { type Message, toMessage } from './message.ts';

export interface NewCard {
  readonly spaceId: string;
  /** The agent's. */
  readonly entityId: string;
  readonly runId: string;
  readonly callId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly status: OpenStatus;
  /** The input as the model wrote it: tells `tool-call.start` and the input too. Left out where the space saw it being written. */
  readonly written?: string | undefined;
}

type OpenStatus = 'running' | 'requires_action';

/** Shows a call in a space. It wakes nobody. The call's card again is the same card. */
export async function openCard(services: Services, tx: Tx, given: NewCard): Promise<Message> {
  const { spaceId, entityId, callId, toolName, input, status } = given;
  const [space, , known] = await pipeline(
    lockSpace(tx, spaceId),
    requireMember(tx.db, spaceId, entityId),
    lockCard(tx, callId),
  );
  if (known !== undefined) {
    const isSame = known.status === status;
    return (isSame ? undefined : await updateCard(services, tx, callId, { status, input })) ?? toMessage(known);
  }
  const row = appendMessage(tx, space, {
    entity_id: entityId,
    kind: 'tool',
    text: '',
    metadata: toJson({ toolName, input }),
    call_id: callId,
    status,
    run_id: given.runId,
  });
  if (given.written !== undefined) tellWritten(services, tx, row, given.written);
  if (status !== 'running') tell(services, tx, row);
  return toMessage(row);
}

/** Undefined: the agent was taken out of the space, and nothing was written. */
export async function openCardIfIn(services: Services, tx: Tx, given: NewCard): Promise<Message | undefined> {
  try {
    return await openCard(services, tx, given);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

export interface CardUpdate {
  readonly status: MessageStatus;
  readonly output?: unknown;
  /** Where an approver changed it. */
  readonly input?: unknown;
}

/** Undefined: the call has no card, or one that has ended. Ended cards never change again. */
export async function updateCard(
  services: Services,
  tx: Tx,
  callId: string,
  update: CardUpdate,
): Promise<Message | undefined> {
  const card = await lockCard(tx, callId);
  if (card === undefined || !isOpen(card.status)) return undefined;
  const { status, output, input } = update;
  const metadata = toJson({
    ...fromJson<object>(card.metadata),
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
  });
  const changed = { status, metadata, updated_at: tx.now() };
  tx.send(changeCard, { id: card.id, ...changed });
  tell(services, tx, { ...card, ...changed });
  return toMessage({ ...card, ...changed });
}

/** Every card of the entity's that is still open. */
export async function cancelCards(services: Services, tx: Tx, entityId: string): Promise<void> {
  const open = await tx.db
    .selectFrom('messages')
    .select('call_id')
    // By way of its spaces, those it left too: that is what the index begins with.
    .where('space_id', 'in', (eb) =>
      eb.selectFrom('memberships').select('space_id').where('memberships.entity_id', '=', entityId),
    )
    .where('entity_id', '=', entityId)
    .where('kind', '=', 'tool')
    .where('status', 'in', ['running', 'requires_action'])
    .orderBy('id')
    .execute();
  for (const { call_id } of open)
    if (call_id !== null) await updateCard(services, tx, call_id, { status: 'cancelled' });
}

/** From a look at its status to its change nobody else changes it. */
async function lockCard(tx: Tx, callId: string): Promise<MessageRow | undefined> {
  const [card] = await lock(tx.db, { callId });
  return card;
}

const lock = statement((db, { callId }: Params<{ callId: string }>, dialect) => {
  const row = db.selectFrom('messages').select(COLUMNS.messages).where('call_id', '=', callId);
  return dialect === 'postgres' ? row.modifyEnd(sql`for update`) : row;
});

const changeCard = statement(
  (db, { id, status, metadata, updated_at }: Params<Pick<MessageRow, 'id' | 'status' | 'metadata' | 'updated_at'>>) =>
    db.updateTable('messages').set({ status, metadata, updated_at }).where('id', '=', id),
);

function isOpen(status: MessageStatus): status is OpenStatus {
  return status === 'running' || status === 'requires_action';
}

function tellWritten(services: Services, tx: Tx, row: MessageRow, delta: string): void {
  tell(services, tx, { ...row, status: 'running' });
  const payload = { callId: row.call_id, delta };
  if (delta !== '') emit(services, tx, { channel: spaceChannel(row.space_id), type: 'tool-input-delta', payload });
}

function tell(services: Services, tx: Tx, row: MessageRow): void {
  const message = toMessage(row);
  const callId = row.call_id;
  const { toolName } = message.metadata;
  const started = { streamId: callId, toolName, entityId: row.entity_id, messageId: row.id };
  emit(services, tx, {
    channel: spaceChannel(row.space_id),
    type: EVENT_OF[row.status],
    payload: { ...(row.status === 'running' ? started : {}), callId, message },
  });
}

/** An approved call starts only now: it is told so again. */
const EVENT_OF: Readonly<Record<MessageStatus, string>> = {
  running: 'tool-call.start',
  requires_action: 'tool-call.requires-action',
  complete: 'tool-call.complete',
  error: 'tool-call.error',
  expired: 'tool-call.expired',
  cancelled: 'tool-call.cancelled',
};
