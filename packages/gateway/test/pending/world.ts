import type { ToolContext } from '@lastcall/core';
import type { AgentConfigInput } from '../../src/config/agent-config.ts';
import { DEFAULT_GATEWAY_LIMITS, type GatewayLimits } from '../../src/config/limits.ts';
import type { InboxEvent } from '../../src/domain/inbox/inbox-event.ts';
import { newId } from '../../src/domain/new-id.ts';
import type { Bus, StreamEvent } from '../../src/ports/bus/bus.ts';
import type { Engine } from '../../src/ports/engine/engine.ts';
import type { Services } from '../../src/ports/services.ts';
import { fromJson, toJson } from '../../src/ports/store/json.ts';
import type { Store } from '../../src/ports/store/store.ts';
import type { AgentStatus, EntityKind, Tables } from '../../src/ports/store/tables.ts';
import type { BuiltInContext, StagedWrite } from '../../src/runtime/tools/built-in-context.ts';
import type { Database, databases } from '../support/stores.ts';

interface RecordedWake {
  readonly threadId: string;
  readonly isUrgent?: boolean;
}

/** A gateway's parts without its workers: what would be woken and told is noted. */
export interface World {
  readonly database: Database;
  readonly services: Services;
  readonly wakes: RecordedWake[];
  readonly published: StreamEvent[];
  /** Another gateway on the same database. */
  beside(): Promise<Services>;
  addAgent(limits?: AgentConfigInput['limits'], status?: AgentStatus): Promise<string>;
  addEntity(kind: EntityKind, name: string): Promise<string>;
  addSpace(members: Readonly<Record<string, string>>): Promise<string>;
  /** What waits in the inbox, in order. */
  inbox(agentId: string): Promise<{ eventId: string; event: InboxEvent }[]>;
  close(): Promise<void>;
}

export async function createWorld(
  create: (typeof databases)[number]['create'],
  limits: Partial<GatewayLimits> = {},
): Promise<World> {
  const database = await create();
  const stores: Store[] = [];
  const wakes: RecordedWake[] = [];
  const published: StreamEvent[] = [];
  const open = async (): Promise<Services> => {
    const store = await database.open();
    stores.push(store);
    return {
      store,
      engine: recordingEngine(wakes),
      bus: recordingBus(published),
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      limits: { ...DEFAULT_GATEWAY_LIMITS, ...limits },
    };
  };
  const services = await open();
  const insert = async <T extends keyof Tables & string>(table: T, row: object): Promise<void> => {
    await services.store.transaction((tx) =>
      tx.db
        .insertInto(table)
        .values(row as never)
        .execute(),
    );
  };
  const addEntity = async (kind: EntityKind, name: string): Promise<string> => {
    const id = newId();
    const row = { id, kind, external_id: null, display_name: name, metadata: '{}', created_at: 1, deleted_at: null };
    await insert('entities', row);
    return id;
  };
  return {
    database,
    services,
    wakes,
    published,
    beside: open,
    addEntity,
    async addAgent(limits, status = 'active') {
      const id = await addEntity('agent', 'Ada');
      await insert('agents', {
        id,
        entity_id: id,
        name: 'Ada',
        config: toJson({ name: 'Ada', instructions: '', ...(limits === undefined ? {} : { limits }) }),
        config_version: 1,
        status,
        active_space_id: null,
        last_error: null,
        tag: 'tag',
        created_at: 1,
        updated_at: 1,
      });
      return id;
    },
    async addSpace(members) {
      const id = newId();
      const space = { id, name: 'Room', description: '', metadata: '{}', next_seq: 1, hops: 0, created_at: 1 };
      await insert('spaces', space);
      for (const [entity_id, role] of Object.entries(members))
        await insert('memberships', { space_id: id, entity_id, role, joined_at: 1, left_at: null, last_seen_seq: 0 });
      return id;
    },
    async inbox(agentId) {
      const rows = await services.store.db
        .selectFrom('inbox_events')
        .selectAll()
        .where('agent_id', '=', agentId)
        .orderBy('id')
        .execute();
      return rows.map(({ event_id, payload }) => ({ eventId: event_id, event: fromJson(payload) }));
    },
    async close() {
      for (const store of stores) await store.close();
      await database.remove();
    },
  };
}

function recordingEngine(wakes: RecordedWake[]): Engine {
  return {
    enqueue(tx, threadId, options) {
      tx.afterCommit(() => wakes.push({ threadId, ...(options?.isUrgent === true ? { isUrgent: true } : {}) }));
    },
    async start() {},
    async stop() {},
  };
}

function recordingBus(published: StreamEvent[]): Bus {
  return {
    publish: (events) => void published.push(...events),
    subscribe: () => () => {},
    async start() {},
    async stop() {},
  };
}

/** A cycle whose staged writes wait until the test settles the call. */
export function cycleOf(
  services: Services,
  agentId: string,
): { cycle: BuiltInContext; staged: StagedWrite[]; settle(): Promise<void> } {
  const staged: StagedWrite[] = [];
  return {
    staged,
    cycle: {
      services,
      runId: 'run',
      agent: { id: agentId, entityId: agentId, name: 'Ada' },
      read: (work) => work(services.store.db),
      stage: (_ctx: ToolContext, write) => void staged.push(write),
    },
    async settle() {
      await services.store.transaction(async (tx) => {
        for (const write of staged) await write(tx);
      });
      staged.length = 0;
    },
  };
}
