import type { AgentConfig } from '../../config/agent-config.ts';
import type { Services } from '../../ports/services.ts';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { AgentStatus, EntityRow, SpaceRow } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { hasRoom, inboxFull } from '../inbox/inbox-capacity.ts';
import { pushNewEvent } from '../inbox/push-event.ts';
import { IS_WAITING } from '../inbox/waiting-events.ts';
import type { Message } from './message.ts';

interface NotifiedMessage {
  readonly space: SpaceRow;
  readonly message: Message;
  /** The number of the message that this one replies to. */
  readonly replyToSeq?: number | undefined;
  readonly sender: EntityRow;
  readonly recipients: readonly Recipient[];
}

/**
 * What happens to a message for one agent: it waits for the agent's next run, until the agent is active again, or for an
 * operator.
 */
export interface Hearing {
  readonly entityId: string;
  readonly as: 'queued' | 'paused' | 'withheld';
}

/**
 * Pushes the message into the inbox of every other agent of the space. The space's row must be locked. Returns what happens to it
 * for each agent.
 */
export async function notifyAgents(
  services: Pick<Services, 'logger'>,
  tx: Tx,
  posted: NotifiedMessage,
): Promise<readonly Hearing[]> {
  const hops = countHop(tx, posted);
  const heardBy: Hearing[] = [];
  for (const { id, entityId, status, limits, isFull, spaceNumber } of posted.recipients) {
    const { hopLimit = tx.limits.hopLimit } = limits;
    const isAgent = posted.sender.kind === 'agent';
    const withheld = isAgent ? reasonToWithhold(hops > hopLimit, isFull) : undefined;
    await pushMessageEvent(services, tx, { ...posted, agentId: id, spaceNumber, withheld });
    heardBy.push({ entityId, as: hearing(withheld !== undefined, status) });
  }
  return heardBy;
}

function hearing(isWithheld: boolean, status: AgentStatus): Hearing['as'] {
  if (isWithheld) return 'withheld';
  return status === 'active' ? 'queued' : 'paused';
}

/** The same for a message that was posted before. */
export async function findHearings(tx: Tx, messageId: string): Promise<readonly Hearing[]> {
  const rows = await tx.db
    .selectFrom('inbox_events')
    .innerJoin('agents', 'agents.id', 'inbox_events.thread_id')
    .select(['agents.entity_id', 'agents.status', 'inbox_events.status as event_status'])
    .where('inbox_events.thread_id', 'in', (eb) =>
      eb
        .selectFrom('memberships')
        .innerJoin('messages', 'messages.space_id', 'memberships.space_id')
        .innerJoin('agents as member', 'member.entity_id', 'memberships.entity_id')
        .select('member.id')
        .where('messages.id', '=', messageId),
    )
    .where('inbox_events.event_id', '=', `message:${messageId}`)
    .orderBy('agents.id')
    .execute();
  return rows.map(({ entity_id, status, event_status }) => ({
    entityId: entity_id,
    as: hearing(event_status === 'withheld', status),
  }));
}

interface OtherAgent {
  readonly id: string;
  readonly entityId: string;
  readonly status: AgentStatus;
  readonly limits: NonNullable<AgentConfig['limits']>;
  /** The number of events in its inbox, counted without its lock: see hasRoom. */
  readonly waiting: number;
  /** The number by which it knows the space. */
  readonly spaceNumber: number | undefined;
}

export interface Recipient extends OtherAgent {
  /** True if its inbox has no room for one more event. */
  readonly isFull: boolean;
}

/**
 * Checks the inboxes. People can wait and try again, so a full one refuses their message. An agent's message is written anyway, and the
 * event is withheld for operators.
 */
export async function checkInboxes(
  tx: Tx,
  sender: Pick<EntityRow, 'kind'>,
  others: readonly OtherAgent[],
): Promise<readonly Recipient[]> {
  const recipients: Recipient[] = [];
  for (const other of others) {
    const { inboxLength = tx.limits.inboxLength } = other.limits;
    const isFull = !(await hasRoom(tx, { agentId: other.id, waiting: other.waiting, limit: inboxLength }));
    if (isFull && sender.kind !== 'agent') throw inboxFull(other.id, inboxLength);
    recipients.push({ ...other, isFull });
  }
  return recipients;
}

/**
 * Finds the other agents of a space whose row is locked. None of them leaves or is deleted before the commit, because
 * both lock the space first. They come in the order of their ids, so that two messages to the same agents never wait
 * for each other.
 */
export async function findRecipients(tx: Tx, params: RecipientParams): Promise<readonly OtherAgent[]> {
  const rows = await recipients(tx.db, params);
  return rows.map(({ id, entity_id: entityId, status, config, waiting, number }) => ({
    id,
    entityId,
    status,
    limits: fromJson<AgentConfig>(config).limits ?? {},
    waiting,
    spaceNumber: number ?? undefined,
  }));
}

interface RecipientParams {
  readonly spaceId: string;
  readonly senderId: string;
}

const recipients = statement(
  (db, { spaceId, senderId }: Params<RecipientParams>) =>
    db
      .selectFrom('memberships')
      .innerJoin('agents', 'agents.entity_id', 'memberships.entity_id')
      .select(['agents.id', 'agents.entity_id', 'agents.status', 'agents.config', 'memberships.number'])
      .select((eb) =>
        eb
          .selectFrom('inbox_events')
          .select((counting) => counting.fn.countAll<number>().as('waiting'))
          .whereRef('inbox_events.thread_id', '=', 'agents.id')
          .where(IS_WAITING)
          .$castTo<{ waiting: number }>()
          .as('waiting'),
      )
      .where('memberships.space_id', '=', spaceId)
      .where('memberships.left_at', 'is', null)
      .where('memberships.entity_id', '!=', senderId)
      .where('agents.status', '!=', 'deleted')
      .orderBy('agents.id')
      .$castTo<{
        id: string;
        entity_id: string;
        status: AgentStatus;
        config: string;
        waiting: number;
        number: number | null;
      }>(),
  { types: { spaceId: 'text', senderId: 'text' } },
);

/**
 * Counts the messages by which agents woke agents since a person spoke. A service neither counts nor resets: it may be
 * a relay between agents.
 */
function countHop(tx: Tx, { space, sender, recipients }: NotifiedMessage): number {
  const isHop = sender.kind === 'agent' && recipients.length > 0;
  const hops = sender.kind === 'human' ? 0 : isHop ? space.hops + 1 : space.hops;
  if (hops !== space.hops) tx.send(setHops, { spaceId: space.id, hops });
  return hops;
}

const setHops = statement(
  (db, { spaceId, hops }: Params<{ spaceId: string; hops: number }>) =>
    db.updateTable('spaces').set({ hops }).where('id', '=', spaceId),
  { types: { spaceId: 'text', hops: 'bigint' }, key: 'spaceId' },
);

type Withheld = 'hop_limit' | 'inbox_full';

function reasonToWithhold(isOverHopLimit: boolean, isFull: boolean): Withheld | undefined {
  return isOverHopLimit ? 'hop_limit' : isFull ? 'inbox_full' : undefined;
}

async function pushMessageEvent(
  { logger }: Pick<Services, 'logger'>,
  tx: Tx,
  {
    space,
    message,
    sender,
    replyToSeq,
    agentId,
    spaceNumber,
    withheld,
  }: Omit<NotifiedMessage, 'recipients'> &
    Pick<Recipient, 'spaceNumber'> & { agentId: string; withheld: Withheld | undefined },
): Promise<void> {
  const eventId = `message:${message.id}`;
  pushNewEvent(tx, {
    threadId: agentId,
    eventId,
    status: withheld === undefined ? 'pending' : 'withheld',
    event: {
      type: 'space_message',
      messageId: message.id,
      seq: message.seq,
      spaceId: space.id,
      spaceName: space.name,
      ...(spaceNumber === undefined ? {} : { spaceNumber }),
      from: { entityId: sender.id, name: sender.display_name, kind: sender.kind },
      text: message.text,
      ...(message.attachments === undefined ? {} : { attachments: message.attachments }),
      ...(message.replyTo === undefined ? {} : { replyTo: message.replyTo }),
      ...(replyToSeq === undefined ? {} : { replyToSeq }),
    },
  });
  if (withheld === undefined) return;
  await tx.db
    .updateTable('inbox_events')
    .set({ error: toJson({ code: withheld, message: WITHHELD_MESSAGES[withheld] }) })
    .where('thread_id', '=', agentId)
    .where('event_id', '=', eventId)
    .execute();
  tx.afterCommit(() => logger.warn('event withheld', { agentId, eventId, spaceId: space.id, reason: withheld }));
}

const WITHHELD_MESSAGES: Readonly<Record<Withheld, string>> = {
  hop_limit: 'The hop limit was reached: agents answered each other and no person wrote in between.',
  inbox_full: "The agent's inbox was full.",
};
