import { pipeline } from '../../ports/store/pipeline.ts';
import { COLUMNS } from '../../ports/store/schema/columns.ts';
import { fromJson, toJson, withJsonField } from '../../ports/store/schema/json.ts';
import type { Json, MessageRow, MessageStatus } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { isNotFound } from '../api-error.ts';
import type { CallStatus } from '../calls/call-status.ts';
import { spaceStream } from '../streams/stream-names.ts';
import { appendMessage } from './append-message.ts';
import type { CardCall } from './card-call.ts';
import { lockSpace } from './lock-space.ts';
import { requireMember } from './membership.ts';
import { type Message, toMessage, toMessageJson } from './message.ts';
import { assertNotArchived, isArchived } from './update-space.ts';

export interface NewCard {
  readonly spaceId: string;
  /** The agent's entity. */
  readonly entityId: string;
  readonly runId: string;
  readonly callId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly status: OpenStatus;
  /** The node of the machine that makes the call. */
  readonly node?: string | undefined;
  /**
   * The input as the model wrote it. If set, `tool-call.start` and the input are emitted too. It is left out if the
   * space saw the model write it.
   */
  readonly rawInput?: string | undefined;
  /** Set for a call that waits for an answer. */
  readonly call?: CardCall | undefined;
}

type OpenStatus = 'running' | 'requires_action';

/** Shows a call in a space. It wakes no agent. Opening the same call's card again changes nothing. */
export async function openCard(tx: Tx, newCard: NewCard): Promise<Message> {
  const { spaceId, entityId, callId, toolName, input, status, call, node } = newCard;
  const [space, , known] = await pipeline(
    lockSpace(tx, spaceId),
    requireMember(tx.db, spaceId, entityId),
    lockCard(tx, callId),
  );
  if (known !== undefined) {
    const isSame = known.status === status;
    return (isSame ? undefined : await updateCard(tx, callId, { status, input, call })) ?? toMessage(known);
  }
  assertNotArchived(space);
  const row = appendMessage(tx, space, {
    entity_id: entityId,
    kind: 'tool',
    text: '',
    metadata: toJson({ toolName, input, ...(node === undefined ? {} : { node }) }),
    call_id: callId,
    call: call === undefined ? null : toJson(call),
    status,
    run_id: newCard.runId,
  });
  if (newCard.rawInput !== undefined) emitInput(tx, row, newCard.rawInput);
  if (status !== 'running') emitCard(tx, row);
  return toMessage(row);
}

/** Returns undefined, and writes nothing, if the agent was removed from the space, or the space was archived. */
export async function openCardIfAllowed(tx: Tx, newCard: NewCard): Promise<Message | undefined> {
  try {
    return await openCard(tx, newCard);
  } catch (error) {
    if (isNotFound(error) || isArchived(error)) return undefined;
    throw error;
  }
}

export interface CardUpdate {
  readonly status: MessageStatus;
  /** How the call ended. The card says it where its own status has no word for it. */
  readonly callStatus?: CallStatus | undefined;
  readonly output?: unknown;
  /** The output as JSON text, in place of `output`. */
  readonly outputJson?: Json | undefined;
  /** Set if an approver changed it. */
  readonly input?: unknown;
  /** True if the output is the response of the run. */
  readonly isResponse?: boolean | undefined;
  /** The changed fields of the call. */
  readonly call?: Partial<CardCall> | undefined;
}

/** Returns undefined if the call has no card, or one that has ended. An ended card never changes again. */
export async function updateCard(tx: Tx, callId: string, update: CardUpdate): Promise<Message | undefined> {
  const card = await lockCard(tx, callId);
  if (card === undefined || !isOpen(card.status)) return undefined;
  const { status } = update;
  const metadata = changedMetadata(card.metadata, update);
  const changed = { status, metadata, call: changedCall(card, update), updated_at: tx.now() };
  tx.send(changeCard, { id: card.id, ...changed });
  emitCard(tx, { ...card, ...changed });
  return toMessage({ ...card, ...changed });
}

const CARD_WORDS: ReadonlySet<CallStatus> = new Set(['denied', 'unknown', 'skipped']);

function changedMetadata(before: Json, { callStatus, output, outputJson, input, isResponse }: CardUpdate): Json {
  const isTold = callStatus !== undefined && CARD_WORDS.has(callStatus);
  const metadata = isTold ? withJsonField(before, 'callStatus', toJson(callStatus)) : before;
  if (input === undefined) {
    const added = output === undefined ? outputJson : toJson(output);
    // An open card has no output yet.
    const ended = added === undefined ? metadata : withJsonField(metadata, 'output', added);
    return isResponse === true ? withJsonField(ended, 'response', 'true') : ended;
  }
  return toJson({ ...fromJson<object>(metadata), input, ...(output === undefined ? {} : { output }) });
}

/** A changed input replaces the original one, which stays with the call. */
function changedCall({ call, metadata }: MessageRow, { call: added, input }: CardUpdate): Json | null {
  if (added === undefined) return call;
  const known = call === null ? {} : withoutAnswer(fromJson<CardCall>(call), added);
  const isEdited = 'decision' in added && input !== undefined;
  const asked = isEdited ? { askedInput: fromJson<{ input?: unknown }>(metadata).input } : {};
  return toJson({ ...known, ...asked, ...added });
}

/** Removes the earlier answer from a call that asks again, because the new question is not answered yet. */
function withoutAnswer(known: CardCall, { kind }: Partial<CardCall>): object {
  if (kind !== 'input') return known;
  const { decision: _decision, by: _by, at: _at, ...rest } = known;
  return rest;
}

/**
 * Cancels the open cards of the entity, except for those of calls that have started: they may have taken effect, and only their run knows
 * how they end.
 */
export async function cancelCards(tx: Tx, entityId: string): Promise<void> {
  const open = await tx.db
    .selectFrom('messages')
    .select('call_id')
    // Searches its spaces, including those it left, because the index starts with the space.
    .where('space_id', 'in', (eb) =>
      eb.selectFrom('memberships').select('space_id').where('memberships.entity_id', '=', entityId),
    )
    .where('entity_id', '=', entityId)
    .where('kind', '=', 'tool')
    .where('status', 'in', ['running', 'requires_action'])
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('calls')
            .select('calls.id')
            .whereRef('calls.id', '=', 'messages.call_id')
            .where('calls.status', '=', 'started'),
        ),
      ),
    )
    .orderBy('id')
    .execute();
  for (const { call_id } of open) if (call_id !== null) await updateCard(tx, call_id, { status: 'cancelled' });
}

/** Locks the card, so that no other transaction changes it between the check of its status and the update. */
async function lockCard(tx: Tx, callId: string): Promise<MessageRow | undefined> {
  const [card] = await lock(tx.db, { callId });
  return card;
}

const lock = statement((db, { callId }: Params<{ callId: string }>) =>
  db.selectFrom('messages').select(COLUMNS.messages).where('call_id', '=', callId).forUpdate(),
);

type ChangedCard = Pick<MessageRow, 'id' | 'status' | 'metadata' | 'call' | 'updated_at'>;

const changeCard = statement((db, { id, status, metadata, call, updated_at }: Params<ChangedCard>) =>
  db.updateTable('messages').set({ status, metadata, call, updated_at }).where('id', '=', id),
);

function isOpen(status: MessageStatus): status is OpenStatus {
  return status === 'running' || status === 'requires_action';
}

function emitInput(tx: Tx, row: MessageRow, delta: string): void {
  emitCard(tx, { ...row, status: 'running' });
  const payload = { callId: row.call_id, delta };
  if (delta !== '') tx.emit({ stream: spaceStream(row.space_id), type: 'tool-input-delta', payload });
}

function emitCard(tx: Tx, row: MessageRow): void {
  const own = { ...(row.status === 'running' ? startOf(row) : {}), callId: row.call_id };
  const json = withJsonField(toJson(own), 'message', toMessageJson(row));
  tx.emit({ stream: spaceStream(row.space_id), type: CARD_EVENTS[row.status], json });
}

function startOf({ id, call_id, entity_id, metadata }: MessageRow): object {
  const { toolName } = fromJson<{ toolName: string }>(metadata);
  return { streamId: call_id, toolName, entityId: entity_id, messageId: id };
}

/** An approved call starts only now, so `tool-call.start` is emitted again. */
const CARD_EVENTS: Readonly<Record<MessageStatus, string>> = {
  running: 'tool-call.start',
  requires_action: 'tool-call.requires-action',
  complete: 'tool-call.complete',
  error: 'tool-call.error',
  expired: 'tool-call.expired',
  cancelled: 'tool-call.cancelled',
};
