import type { AgentConfig } from '../../config/agent-config.ts';
import type { Services } from '../../ports/services.ts';
import { fromJson, toJson } from '../../ports/store/json.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { EntityRow, SpaceRow } from '../../ports/store/tables.ts';
import { hasRoom, inboxFull } from '../inbox/inbox-room.ts';
import { pushEvent } from '../inbox/push-event.ts';
import { IS_WAITING } from '../inbox/waiting.ts';
import type { Message } from './message.ts';

interface Said {
  readonly space: SpaceRow;
  readonly message: Message;
  readonly sender: EntityRow;
  readonly listeners: readonly Listener[];
}

/** Puts the message into the inbox of every other agent of the space, whose row is locked. */
export async function tellAgents(services: Services, tx: Tx, said: Said): Promise<void> {
  const hops = await countHop(tx, said);
  for (const { id, limits, waiting } of said.listeners) {
    const { hopLimit = services.limits.hops, inboxLength = services.limits.inboxLength } = limits;
    const isFull = !(await hasRoom(tx, { agentId: id, waiting, limit: inboxLength }));
    const isAgent = said.sender.kind === 'agent';
    // People can wait and try again. An agent's message stands, and what it would have caused is kept for operators.
    if (isFull && !isAgent) throw inboxFull(id, inboxLength);
    await push(services, tx, {
      ...said,
      agentId: id,
      withheld: isAgent ? reasonToWithhold(hops > hopLimit, isFull) : undefined,
    });
  }
}

export interface Listener {
  readonly id: string;
  readonly limits: NonNullable<AgentConfig['limits']>;
  /** Events in its inbox, counted without its lock: see hasRoom. */
  readonly waiting: number;
}

/**
 * The other agents of a space whose row is locked. None of them leaves before the commit, nor is deleted: both begin with the row of the space, which is ours. In the order of
 * their ids, so that two messages to the same agents never wait for each other.
 */
export async function findListeners(tx: Tx, given: ListenersOf): Promise<readonly Listener[]> {
  const rows = await listeners(tx.db, given);
  return rows.map(({ id, config, waiting }) => ({ id, limits: fromJson<AgentConfig>(config).limits ?? {}, waiting }));
}

interface ListenersOf {
  readonly spaceId: string;
  readonly senderId: string;
}

const listeners = statement((db, { spaceId, senderId }: Params<ListenersOf>) =>
  db
    .selectFrom('memberships')
    .innerJoin('agents', 'agents.entity_id', 'memberships.entity_id')
    .select(['agents.id', 'agents.config'])
    .select((eb) =>
      eb
        .selectFrom('inbox_events')
        .select((counting) => counting.fn.countAll<number>().as('waiting'))
        .whereRef('inbox_events.agent_id', '=', 'agents.id')
        .where(IS_WAITING)
        .$castTo<{ waiting: number }>()
        .as('waiting'),
    )
    .where('memberships.space_id', '=', spaceId)
    .where('memberships.left_at', 'is', null)
    .where('memberships.entity_id', '!=', senderId)
    .where('agents.status', '!=', 'deleted')
    .orderBy('agents.id')
    .$castTo<{ id: string; config: string; waiting: number }>(),
);

/** Messages that agents woke agents with, since a person spoke. A service neither counts nor resets: it may be a relay between agents. */
async function countHop(tx: Tx, { space, sender, listeners }: Said): Promise<number> {
  const isHop = sender.kind === 'agent' && listeners.length > 0;
  const hops = sender.kind === 'human' ? 0 : isHop ? space.hops + 1 : space.hops;
  if (hops !== space.hops) await tx.db.updateTable('spaces').set({ hops }).where('id', '=', space.id).execute();
  return hops;
}

type Withheld = 'hop_limit' | 'inbox_full';

function reasonToWithhold(isTooFar: boolean, isFull: boolean): Withheld | undefined {
  return isTooFar ? 'hop_limit' : isFull ? 'inbox_full' : undefined;
}

async function push(
  services: Services,
  tx: Tx,
  {
    space,
    message,
    sender,
    agentId,
    withheld,
  }: Omit<Said, 'listeners'> & { agentId: string; withheld: Withheld | undefined },
): Promise<void> {
  const eventId = `message:${message.id}`;
  await pushEvent(services, tx, {
    agentId,
    eventId,
    status: withheld === undefined ? 'pending' : 'withheld',
    event: {
      type: 'space_message',
      messageId: message.id,
      spaceId: space.id,
      spaceName: space.name,
      from: { entityId: sender.id, name: sender.display_name, kind: sender.kind },
      text: message.text,
      ...(message.replyTo === undefined ? {} : { replyTo: message.replyTo }),
    },
  });
  if (withheld === undefined) return;
  await tx.db
    .updateTable('inbox_events')
    .set({ error: toJson({ code: withheld, message: WHY[withheld] }) })
    .where('agent_id', '=', agentId)
    .where('event_id', '=', eventId)
    .execute();
  tx.afterCommit(() =>
    services.logger.warn('event withheld', { agentId, eventId, spaceId: space.id, reason: withheld }),
  );
}

const WHY: Readonly<Record<Withheld, string>> = {
  hop_limit: 'Agents answered each other up to the hop limit, without a message by a person in between.',
  inbox_full: 'As many events as may wait for this agent did.',
};
