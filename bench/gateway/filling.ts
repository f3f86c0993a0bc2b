import { createAgent } from '../../packages/gateway/src/domain/agents/create-agent.ts';
import { createEntity } from '../../packages/gateway/src/domain/entities/entity.ts';
import { addMember } from '../../packages/gateway/src/domain/spaces/membership.ts';
import { createSpace } from '../../packages/gateway/src/domain/spaces/space.ts';
import { toJson } from '../../packages/gateway/src/ports/store/schema/json.ts';
import type { Store } from '../../packages/gateway/src/ports/store/store.ts';

/** Puts agents, spaces and work into a store directly, without HTTP. This happens before the measurement. */
export interface Filling {
  readonly store: Store;
  agents(count: number, config: object): Promise<readonly string[]>;
  /** Creates a space with the agent as a member and this many people, by default one. */
  room(agentId: string, people?: number): Promise<Room>;
  /** Adds `each` events for each of the agents in one transaction, so that all of them are there at once. */
  work(agentIds: readonly string[], each: number): Promise<void>;
  close(): Promise<void>;
}

export interface Room {
  readonly spaceId: string;
  readonly personId: string;
}

export function fillingOf(store: Store): Filling {
  return {
    store,
    agents: (count, config) =>
      store.transaction(async (tx) => {
        const ids: string[] = [];
        for (let index = 0; index < count; index++) {
          const made = await createAgent(tx, {
            config: { name: `agent ${index}`, instructions: 'Note what you hear.', ...config },
          });
          ids.push(made.id);
        }
        return ids;
      }),
    room: (agentId, people = 1) =>
      store.transaction(async (tx) => {
        const { id: spaceId } = await createSpace(tx, { name: 'Room' });
        let personId = '';
        for (let person = 0; person < people; person++) {
          ({ id: personId } = await createEntity(tx, { kind: 'human', displayName: 'Ada' }));
          await addMember(tx, { spaceId, entityId: personId });
        }
        await addMember(tx, { spaceId, entityId: agentId });
        await tx.db.updateTable('agents').set({ active_space_id: spaceId }).where('id', '=', agentId).execute();
        return { spaceId, personId };
      }),
    work: (agentIds, each) =>
      store.transaction(async (tx) => {
        for (const agentId of agentIds)
          await tx.db
            .insertInto('inbox_events')
            .values(eventsOf(agentId, each, tx.now()))
            .execute();
      }),
    close: () => store.close(),
  };
}

let pushed = 0;

function eventsOf(agentId: string, count: number, now: number) {
  return Array.from({ length: count }, () => ({
    thread_id: agentId,
    event_id: `bench-${++pushed}`,
    type: 'service' as const,
    priority: 1,
    payload: toJson({ type: 'service', source: 'bench', name: 'tick', data: pushed }),
    status: 'pending' as const,
    attempts: 0,
    available_at: now,
    run_id: null,
    error: null,
    created_at: now,
  }));
}
