import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Logger } from '@lastcall/core';
import type { AgentLimitsInput } from '../../src/config/agent-limits.ts';
import { DEFAULT_GATEWAY_LIMITS, type GatewayLimits } from '../../src/config/limits.ts';
import { checkTools, type ToolEntries } from '../../src/config/registered-tool.ts';
import { createAgent } from '../../src/domain/agents/create-agent.ts';
import { createEntity } from '../../src/domain/entities/entity.ts';
import { expireDue } from '../../src/domain/pending/expire-due.ts';
import { fireDuePlans } from '../../src/domain/plans/fire-due-plans.ts';
import { addMember } from '../../src/domain/spaces/membership.ts';
import { postMessage } from '../../src/domain/spaces/post-message.ts';
import { createSpace } from '../../src/domain/spaces/space.ts';
import type { StreamEvent } from '../../src/ports/bus/bus.ts';
import { createInProcessBus } from '../../src/ports/bus/in-process-bus.ts';
import { createEngine } from '../../src/ports/engine/engine.ts';
import type { Services } from '../../src/ports/services.ts';
import { fromJson } from '../../src/ports/store/json.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { Worker } from '../../src/runtime/worker.ts';
import type { Database } from './stores.ts';

/** One gateway without HTTP, upon a real database, with models and tools of the test's own. */
export interface World {
  readonly services: Services;
  readonly store: Store;
  readonly worker: Worker;
  readonly logs: readonly { level: string; message: string }[];
  person(name: string): Promise<string>;
  /** Its id is its entity's id too. */
  agent(name: string, config?: object): Promise<string>;
  space(name: string, members: readonly string[]): Promise<string>;
  say(spaceId: string, entityId: string, text: string, more?: object): Promise<string>;
  /** Everything the channel kept, in order. */
  events(channel: string): Promise<StreamEvent[]>;
  /** Resolves when nothing waits and nothing runs. */
  idle(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface WorldOptions {
  readonly database: Database;
  /** By name; agents that name none get `default`. */
  readonly models: Readonly<Record<string, LanguageModelV4>>;
  readonly tools?: ToolEntries;
  readonly limits?: Partial<GatewayLimits>;
  readonly agentLimits?: AgentLimitsInput;
}

export async function openWorld(options: WorldOptions): Promise<World> {
  const store = await options.database.open();
  const logs: { level: string; message: string }[] = [];
  const services: Services = {
    store,
    engine: createEngine({ logger: recorder(logs) }),
    bus: createInProcessBus(),
    logger: recorder(logs),
    limits: { ...DEFAULT_GATEWAY_LIMITS, sweepMs: 100, retryMs: 20, graceMs: 5_000, ...options.limits },
  };
  const tools = checkTools(options.tools ?? {}, ['tools']);
  if (!tools.ok) throw new Error(JSON.stringify(tools.problems));
  const model = (name = 'default'): LanguageModelV4 => {
    const found = options.models[name];
    if (found === undefined) throw new Error(`There is no model ${name}.`);
    return found;
  };
  const worker = new Worker(services, { tools: tools.value, model, agentLimits: options.agentLimits ?? {} });
  await services.bus.start();
  const { transaction } = store;
  return {
    services,
    store,
    worker,
    logs,
    person: async (displayName) =>
      (await transaction((tx) => createEntity(services, tx, { kind: 'human', displayName }))).id,
    agent: async (name, config) =>
      (await transaction((tx) => createAgent(services, tx, { config: { name, instructions: '', ...config } }))).id,
    space: async (name, members) =>
      (
        await transaction(async (tx) => {
          const space = await createSpace(services, tx, { name });
          for (const entityId of members) await addMember(services, tx, { spaceId: space.id, entityId });
          return space;
        })
      ).id,
    say: async (spaceId, entityId, text, more) =>
      (await transaction((tx) => postMessage(services, tx, { spaceId, entityId, text, ...more }))).message.id,
    events: (channel) => readEvents(store, channel),
    idle: () => untilIdle(store, worker),
    start: () => worker.start({ sweeps: [() => fireDuePlans(services), () => expireDue(services)] }),
    async stop() {
      await worker.stop();
      await services.bus.stop();
      await store.close();
    },
  };
}

async function readEvents(store: Store, channel: string): Promise<StreamEvent[]> {
  const rows = await store.db
    .selectFrom('stream_events')
    .selectAll()
    .where('channel', '=', channel)
    .orderBy('seq')
    .execute();
  return rows.map(({ seq, type, payload, created_at, revocations }) => ({
    channel,
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
      .innerJoin('agents', 'agents.id', 'inbox_events.agent_id')
      .select('inbox_events.id')
      .where('agents.status', '=', 'active')
      .where('inbox_events.status', 'in', ['pending', 'claimed'])
      .limit(1)
      .execute();
    if (waiting.length === 0 && worker.busy === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function recorder(logs: { level: string; message: string }[]): Logger {
  const at =
    (level: string) =>
    (message: string, error?: unknown): void =>
      void logs.push({ level, message: error === undefined ? message : `${message} ${String(error)}` });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
