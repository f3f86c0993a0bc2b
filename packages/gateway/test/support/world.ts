import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Logger } from '@lastcall/core';
import type { AgentDefinition } from '../../src/config/agent-definition.ts';
import type { AgentLimitsInput } from '../../src/config/agent-limits.ts';
import { checkDefinitions } from '../../src/config/definitions.ts';
import { DEFAULT_GATEWAY_LIMITS, type GatewayLimits } from '../../src/config/limits.ts';
import type { ModelPrices } from '../../src/config/prices.ts';
import { checkTools, type ToolEntries } from '../../src/config/registered-tool.ts';
import type { PersonLimits } from '../../src/config/spend-limits.ts';
import { createAgent } from '../../src/domain/agents/create-agent.ts';
import { expireDue } from '../../src/domain/calls/expire-due.ts';
import { offerLapsed } from '../../src/domain/calls/offer-lapsed.ts';
import { createEntity } from '../../src/domain/entities/entity.ts';
import type { InboxEvent } from '../../src/domain/inbox/inbox-event.ts';
import { fireDuePlans } from '../../src/domain/plans/fire-due-plans.ts';
import type { Message } from '../../src/domain/spaces/message.ts';
import { type NewMessage, postMessage } from '../../src/domain/spaces/post-message.ts';
import { createSpace } from '../../src/domain/spaces/space.ts';
import type { Bus, StreamEvent } from '../../src/ports/bus/bus.ts';
import { createInProcessBus } from '../../src/ports/bus/in-process-bus.ts';
import type { Services } from '../../src/ports/services.ts';
import { fromJson } from '../../src/ports/store/schema/json.ts';
import type { Store, Tx } from '../../src/ports/store/store.ts';
import type { StoreParts } from '../../src/ports/store/store-parts.ts';
import { Scheduler } from '../../src/runtime/scheduler.ts';
import type { Registry } from '../../src/runtime/toolset/registry.ts';
import { Worker } from '../../src/runtime/worker.ts';
import type { Metrics } from '../../src/telemetry/metrics.ts';
import { assertDocumentedEvents } from './check-events.ts';
import type { Database } from './stores.ts';
import { withLimits } from './with-limits.ts';

/** One gateway without HTTP, on a real database, with the test's models and tools. */
export interface World {
  readonly services: Services;
  readonly store: Store;
  readonly worker: Worker;
  /** Gets the wakes of the store. */
  readonly scheduler: StoreParts['scheduler'];
  readonly registry: Registry;
  readonly logs: LogEntry[];
  /** Threads in the order in which they were to be woken; urgent ones with `@urgent`. */
  readonly wakes: string[];
  /** What was published, in order. */
  readonly told: StreamEvent[];
  in<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** The same world with other limits. */
  with(limits: Partial<GatewayLimits>): World;
  person(name?: string): Promise<string>;
  /** Its id is its entity's id too. */
  agent(name?: string, config?: object): Promise<string>;
  space(name?: string, members?: readonly string[]): Promise<string>;
  post(spaceId: string, entityId: string, text: string, more?: Partial<NewMessage>): Promise<Message>;
  /** Posts a message, and returns its id. */
  say(spaceId: string, entityId: string, text: string, more?: Partial<NewMessage>): Promise<string>;
  /** The events of the agent's inbox, in order. */
  inbox(agentId: string): Promise<{ eventId: string; event: InboxEvent }[]>;
  /** All stored events of the stream, in order. */
  events(stream: string): Promise<StreamEvent[]>;
  /** The types of the events that this world emitted to the stream of a space. */
  heard(spaceId: string): readonly string[];
  /** Resolves when nothing waits and nothing runs. */
  idle(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface WorldOptions {
  readonly database: Database;
  /** Models by name; agents without one get `default`. A world without models must not be started, and its wakes are only recorded. */
  readonly models?: Readonly<Record<string, LanguageModelV4>>;
  readonly tools?: ToolEntries;
  readonly definitions?: Readonly<Record<string, AgentDefinition>>;
  readonly limits?: Partial<GatewayLimits>;
  readonly agentLimits?: AgentLimitsInput;
  readonly metrics?: Metrics;
  readonly prices?: ModelPrices;
  readonly personLimits?: PersonLimits;
}

export async function openWorld(options: WorldOptions): Promise<World> {
  const { database, models, tools: entries = {}, definitions: given = {}, limits, agentLimits = {}, metrics } = options;
  const { prices = {}, personLimits } = options;
  const [logs, wakes, told]: [LogEntry[], string[], StreamEvent[]] = [[], [], []];
  const logger = recordLogs(logs);
  const ports = {
    bus: noteEvents(createInProcessBus(), told),
    limits: { ...DEFAULT_GATEWAY_LIMITS, ...(models === undefined ? {} : QUICK), ...limits },
  };
  const started = new Scheduler({ slots: ports.limits.runs });
  const scheduler = noteWakes(started, wakes);
  const services: Services = { store: await database.open({ ...ports, scheduler }), logger, prices, ...ports };
  const tools = checkTools(entries, ['tools']);
  if (!tools.ok) throw new Error(JSON.stringify(tools.problems));
  const definitions = checkDefinitions(given);
  if (!definitions.ok) throw new Error(JSON.stringify(definitions.problems));
  const model = (name = 'default'): LanguageModelV4 => {
    const found = models?.[name];
    if (found === undefined) throw new Error(`There is no model ${name}.`);
    return found;
  };
  const registry: Registry = {
    tools: tools.value,
    definitions: definitions.value,
    model,
    agentLimits,
    personLimits,
    ...(metrics === undefined ? {} : { metrics }),
  };
  const worker = new Worker(services, registry, started);
  await services.bus.start();
  return worldOf({ services, worker, scheduler, registry, logs, wakes, told });
}

/** Short times, so that tests need not wait. */
const QUICK = { sweepMs: 100, retryMs: 20, graceMs: 5_000 };

function worldOf(
  parts: Pick<World, 'services' | 'worker' | 'scheduler' | 'registry' | 'logs' | 'wakes' | 'told'>,
): World {
  const { services, worker, told } = parts;
  const { store } = services;
  let isStopped = false;
  const world: World = {
    ...parts,
    store,
    in: (work) => store.transaction(work),
    with(changed) {
      const limits = { ...services.limits, ...changed };
      return worldOf({ ...parts, services: { ...services, store: withLimits(store, limits), limits } });
    },
    person: async (displayName = 'Ann') =>
      (await world.in((tx) => createEntity(tx, { kind: 'human', displayName }))).id,
    agent: async (name = 'Bot', config = {}) =>
      (await world.in((tx) => createAgent(tx, { config: { name, instructions: '', replies: 'tools', ...config } }))).id,
    space: async (name = 'Space', ids = []) =>
      (await world.in((tx) => createSpace(tx, { name, members: ids.map((entityId) => ({ entityId })) }))).id,
    post: async (spaceId, entityId, text, more) =>
      (await world.in((tx) => postMessage(services, tx, { spaceId, entityId, text, ...more }))).message,
    say: async (...given) => (await world.post(...given)).id,
    inbox: (agentId) => readInbox(store, agentId),
    events: (stream) => readEvents(store, stream),
    heard: (spaceId) => told.filter(({ stream }) => stream === `space:${spaceId}`).map(({ type }) => type),
    idle: () => untilIdle(store, worker),
    start: () => worker.start({ sweeps: [fireDuePlans, expireDue, offerLapsed].map((sweep) => () => sweep(services)) }),
    async stop() {
      if (isStopped) return;
      isStopped = true;
      await worker.stop();
      await services.bus.stop();
      await store.close();
      // Checks that the document describes all events of the gateway.
      assertDocumentedEvents(told);
    },
  };
  return world;
}

function noteWakes(scheduler: Scheduler, wakes: string[]): StoreParts['scheduler'] {
  return {
    enqueue(threadId, options) {
      wakes.push(options?.isUrgent === true ? `${threadId}@urgent` : threadId);
      scheduler.enqueue(threadId, options);
    },
  };
}

function noteEvents(bus: Bus, told: StreamEvent[]): Bus {
  return {
    ...bus,
    publish(events) {
      told.push(...events);
      bus.publish(events);
    },
  };
}

async function readInbox(store: Store, agentId: string): Promise<{ eventId: string; event: InboxEvent }[]> {
  const rows = store.db.selectFrom('inbox_events').select(['event_id', 'payload']).where('thread_id', '=', agentId);
  return (await rows.orderBy('id').execute()).map(({ event_id, payload }) => ({
    eventId: event_id,
    event: fromJson(payload),
  }));
}

async function readEvents(store: Store, stream: string): Promise<StreamEvent[]> {
  const rows = await store.db
    .selectFrom('stream_events')
    .selectAll()
    .where('stream', '=', stream)
    .orderBy('seq')
    .execute();
  return rows.map(({ seq, type, payload, created_at, revocations }) => ({
    stream,
    seq,
    type,
    payload: fromJson(payload),
    at: created_at,
    revocations,
  }));
}

async function untilIdle(store: Store, worker: Worker): Promise<void> {
  for (;;) {
    const waiting = await store.db
      .selectFrom('inbox_events')
      .innerJoin('threads', 'threads.id', 'inbox_events.thread_id')
      .innerJoin('agents', 'agents.id', 'threads.agent_id')
      .select('inbox_events.id')
      .where('agents.status', '=', 'active')
      .where('inbox_events.status', 'in', ['pending', 'claimed'])
      .limit(1)
      .execute();
    if (waiting.length === 0 && worker.busy === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export interface LogEntry {
  readonly level: string;
  readonly message: string;
  readonly details?: unknown;
}

export function recordLogs(logs: LogEntry[]): Logger {
  const at =
    (level: string) =>
    (message: string, details?: unknown): void =>
      void logs.push({ level, message, details });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
