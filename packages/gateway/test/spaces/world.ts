import { randomUUID } from 'node:crypto';
import { DEFAULT_GATEWAY_LIMITS, type GatewayLimits } from '../../src/config/limits.ts';
import type { Agent } from '../../src/domain/agents/agent.ts';
import { createAgent } from '../../src/domain/agents/create-agent.ts';
import { createEntity, type Entity } from '../../src/domain/entities/entity.ts';
import type { Message } from '../../src/domain/spaces/message.ts';
import { type NewMessage, postMessage } from '../../src/domain/spaces/post-message.ts';
import { createSpace, type Space } from '../../src/domain/spaces/space.ts';
import type { StreamEvent } from '../../src/ports/bus/bus.ts';
import type { Services } from '../../src/ports/services.ts';
import type { Store, Tx } from '../../src/ports/store/store.ts';
import type { Database } from '../support/stores.ts';

/** A gateway without workers: what would be woken and told is only noted, once it is durable. */
export interface World {
  readonly store: Store;
  readonly services: Services;
  /** Threads, in the order of their wakes; with an `@` and the time where it is a later one. */
  readonly wakes: string[];
  readonly told: StreamEvent[];
  readonly warnings: unknown[];
  in<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** The same world with other limits. */
  with(limits: Partial<GatewayLimits>): World;
  person(name?: string): Promise<Entity>;
  agent(name?: string, config?: object): Promise<Agent>;
  space(...members: readonly { readonly id: string }[]): Promise<Space>;
  say(spaceId: string, from: { readonly id: string }, text: string, more?: Partial<NewMessage>): Promise<Message>;
  /** Types of what a space's stream told so far. */
  heard(spaceId: string): readonly string[];
  close(): Promise<void>;
}

export async function openWorld(database: Database): Promise<World> {
  const store = await database.open();
  const wakes: string[] = [];
  const told: StreamEvent[] = [];
  const warnings: unknown[] = [];
  const ignore = (): void => {};
  const services: Services = {
    store,
    limits: DEFAULT_GATEWAY_LIMITS,
    logger: { debug: ignore, info: ignore, error: ignore, warn: (_message, details) => void warnings.push(details) },
    engine: {
      enqueue: (tx, threadId, options) =>
        tx.afterCommit(() => wakes.push(options?.isUrgent === true ? `${threadId}@urgent` : threadId)),
      start: async () => {},
      stop: async () => {},
    },
    bus: {
      publish: (events) => void told.push(...events),
      subscribe: () => ignore,
      start: async () => {},
      stop: async () => {},
    },
  };
  return worldOf({ services, wakes, told, warnings });
}

function worldOf(parts: Pick<World, 'services' | 'wakes' | 'told' | 'warnings'>): World {
  const { services, told } = parts;
  const { store } = services;
  const world: World = {
    ...parts,
    store,
    in: (work) => store.transaction(work),
    with: (limits) => worldOf({ ...parts, services: { ...services, limits: { ...services.limits, ...limits } } }),
    person: (name = 'Ann') => world.in((tx) => createEntity(services, tx, { kind: 'human', displayName: name })),
    agent: (name = 'Bot', config = {}) =>
      world.in((tx) => createAgent(services, tx, { config: { name, instructions: 'Be kind.', ...config } })),
    space: (...members) =>
      world.in((tx) =>
        createSpace(services, tx, {
          name: `space ${randomUUID()}`,
          members: members.map(({ id }) => ({ entityId: id })),
        }),
      ),
    say: async (spaceId, { id }, text, more = {}) =>
      (await world.in((tx) => postMessage(services, tx, { spaceId, entityId: id, text, ...more }))).message,
    heard: (spaceId) => told.filter(({ channel }) => channel === `space:${spaceId}`).map(({ type }) => type),
    close: () => store.close(),
  };
  return world;
}
