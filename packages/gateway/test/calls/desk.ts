import type { OpenedWait } from '../../src/domain/calls/open-wait.ts';
import { toWaitingCall, type WaitingCall } from '../../src/domain/calls/waiting-call.ts';
import { newId } from '../../src/domain/new-id.ts';
import { type Message, toMessage } from '../../src/domain/spaces/message.ts';
import { openCard } from '../../src/domain/spaces/tool-card.ts';
import type { Services } from '../../src/ports/services.ts';
import type { World } from '../support/world.ts';
import { openWaiting } from './open-waiting.ts';

/** An agent and a person in a space, and calls that wait for the person. */
export interface Desk {
  readonly world: World;
  readonly services: Services;
  readonly agent: string;
  readonly person: string;
  readonly stranger: string;
  readonly space: string;
  readonly member: { readonly entityId: string };
  addMember(role: string): Promise<string>;
  leave(entityId: string): Promise<void>;
  /** A call that waits, with its card if it has a space. */
  ask(call?: Partial<OpenedWait>): Promise<{ callId: string; runId: string }>;
  row(callId: string): Promise<WaitingCall>;
  card(callId: string): Promise<Message | undefined>;
  /** The events about the call in the agent's inbox. */
  events(callId: string): Promise<Awaited<ReturnType<World['inbox']>>>;
  /** The types of the events about the call in the space's stream. */
  told(callId: string): Promise<string[]>;
  close(): Promise<void>;
}

export async function openDesk(world: World): Promise<Desk> {
  const { services } = world;
  const [agent, person, stranger] = [
    await world.agent('Ada'),
    await world.person('Husam'),
    await world.person('Mallory'),
  ];
  const space = await world.space('Room', [agent, person]);
  const join = (entityId: string, role: string) =>
    world.in((tx) =>
      tx.db
        .insertInto('memberships')
        .values({
          space_id: space,
          entity_id: entityId,
          role,
          joined_at: 1,
          left_at: null,
          last_seen_seq: 0,
          number: null,
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute(),
    );
  const row = async (callId: string): Promise<WaitingCall> => {
    const found = world.store.db.selectFrom('calls').selectAll().where('id', '=', callId);
    return toWaitingCall(await found.executeTakeFirstOrThrow());
  };
  return {
    world,
    services,
    agent,
    person,
    stranger,
    space,
    member: { entityId: person },
    async addMember(role) {
      const id = await world.person(role);
      await join(id, role);
      return id;
    },
    async leave(entityId) {
      await world.in((tx) =>
        tx.db.updateTable('memberships').set({ left_at: 2 }).where('entity_id', '=', entityId).execute(),
      );
    },
    async ask(given = {}) {
      const call: Omit<OpenedWait, 'threadId'> = {
        callId: newId(),
        runId: newId(),
        agentId: agent,
        spaceId: space,
        toolName: 'confirm',
        kind: 'result',
        input: {},
        ...given,
      };
      const { callId, runId, toolName, input, spaceId, agentId } = call;
      await join(agentId, 'member');
      await world.in(async (tx) => {
        await openWaiting(tx, call);
        const card = { entityId: agentId, runId, callId, toolName, input, status: 'requires_action' as const };
        if (typeof spaceId === 'string') await openCard(tx, { ...card, spaceId });
      });
      return { callId, runId };
    },
    row,
    async card(callId) {
      const found = world.store.db.selectFrom('messages').selectAll().where('call_id', '=', callId);
      const row = await found.executeTakeFirst();
      return row === undefined ? undefined : toMessage(row);
    },
    async events(callId) {
      const { agentId } = await row(callId);
      return (await world.inbox(agentId)).filter(
        ({ event }) => event.type === 'tool_result' && event.callId === callId,
      );
    },
    told: async (callId) =>
      (await world.events(`space:${space}`))
        .filter(({ payload }) => (payload as { callId?: string }).callId === callId)
        .map(({ type }) => type),
    // The world is closed by its owner.
    close: async () => {},
  };
}
