import { randomId } from '@lastcall/core/internal';
import type { GatewayLimits } from '../../src/config/limits.ts';
import { createAgent } from '../../src/domain/agents/create-agent.ts';
import { createEntity } from '../../src/domain/entities/entity.ts';
import { newId } from '../../src/domain/new-id.ts';
import { createProject } from '../../src/domain/projects/project.ts';
import { createSpace } from '../../src/domain/spaces/space.ts';
import { spaceStream } from '../../src/domain/streams/stream-names.ts';
import type { Registry } from '../../src/runtime/toolset/registry.ts';
import type { Action } from './action.ts';
import { actionsOf } from './actions.ts';
import { type Fault, type FaultKind, Faults } from './faults.ts';
import { follow } from './follower.ts';
import { actionsForGuest, GUEST, GUESTS, type Guest, type GuestName, guestOf, simDefinitions } from './guests.ts';
import { Hub } from './hub.ts';
import { createLedger, type Ledger } from './ledger.ts';
import type { MemoryDatabase, WorldDatabase } from './memory-database.ts';
import { answerCalls, perform } from './people.ts';
import { openRemoteStore } from './remote-store.ts';
import { drawsOfBytes, useWorld } from './replace-globals.ts';
import { LIMITS, type SimGateway, startGateway } from './sim-gateway.ts';
import { simModel } from './sim-model.ts';
import { actingTools, simTools } from './sim-tools.ts';
import type { Surroundings } from './surroundings.ts';
import type { Town, WaitingRow } from './town.ts';
import { createProcess, inProcess, type SimProcess, START, VirtualTime } from './virtual-time.ts';
import { sizeOf, type WorldSize } from './world-size.ts';

export interface WorldOptions {
  readonly seed: number;
  /** Only these faults happen. Default: all that the seed has. */
  readonly onlyFaults?: ReadonlySet<string> | undefined;
  /** Only these actions happen, by index. Default: all that the seed has. */
  readonly onlyActions?: ReadonlySet<number> | undefined;
  /** Another number gives other delays, with the same faults and actions. Default 0. */
  readonly timing?: number | undefined;
}

/** A world that has come to rest, or to the end of its time. */
export interface EndedWorld {
  readonly seed: number;
  readonly log: readonly string[];
  readonly faults: readonly Fault[];
  readonly actions: readonly Action[];
  readonly ledger: Ledger;
  readonly database: WorldDatabase;
  readonly steps: number;
  readonly virtualMs: number;
}

/** A world that is not at rest by this time never will be. */
const LONGEST_MS = 150_000;
/** How long everything has to be quiet: longer than a sweep, and than a client takes to connect again. */
const QUIET_MS = 6_000;

export async function runWorld(memory: MemoryDatabase, options: WorldOptions): Promise<EndedWorld> {
  const { seed } = options;
  const time = new VirtualTime();
  useWorld(time, seed);
  drawAllIds();
  const world = new SimWorld(time, memory.begin(), options);
  await world.run();
  const { log, happened, actions, ledger, database } = world;
  return { seed, log, faults: happened, actions, ledger, database, steps: time.steps, virtualMs: time.now - START };
}

/** Ids are drawn in bulk. What the last world left is used up, so that a world does not depend on those before it. */
function drawAllIds(): void {
  const before = drawsOfBytes();
  while (drawsOfBytes() === before) newId(0);
  const between = drawsOfBytes();
  while (drawsOfBytes() === between) randomId();
}

class SimWorld {
  readonly log: string[] = [];
  readonly happened: Fault[] = [];
  readonly ledger = createLedger();
  readonly actions: readonly Action[];
  readonly database: WorldDatabase;
  readonly #options: WorldOptions;
  readonly #size: WorldSize;
  readonly #guest: GuestName | undefined;
  readonly #time: VirtualTime;
  readonly #faults: Faults;
  readonly #gateways = new Map<string, SimGateway>();
  readonly #onDeath = new Map<SimProcess, Set<() => void>>();
  #awayUntil = 0;
  #busyClients = 0;
  #isOver = false;

  constructor(time: VirtualTime, database: WorldDatabase, options: WorldOptions) {
    const { seed, onlyFaults, timing } = options;
    this.#size = sizeOf(seed);
    this.#time = time;
    this.database = database;
    this.#options = options;
    this.#faults = new Faults(seed, {
      only: onlyFaults,
      timing,
      wildness: this.#size.wildness,
      now: () => time.now,
      onFault: (fault) => {
        this.happened.push(fault);
        this.#note(`FAULT ${fault.kind} at ${fault.id}`);
      },
    });
    this.#guest = guestOf(seed);
    const { actions, besidesGuest, beginMs } = this.#size;
    const count = this.#guest === undefined ? actions : besidesGuest;
    const more = this.#guest === undefined ? [] : actionsForGuest(this.#guest, seed, beginMs);
    this.actions = [...actionsOf(seed, { count, beginMs }), ...more].sort((one, other) => one.at - other.at);
  }

  get #limits(): GatewayLimits {
    return { ...LIMITS, sweepMs: this.#size.sweepMs };
  }

  #note(line: string): void {
    this.log.push(`${(this.#time.now - START).toFixed(1).padStart(9)} ${line}`);
  }

  async run(): Promise<void> {
    const surroundings = this.#surroundings();
    const registry = registryOf(surroundings);
    const hub = new Hub(surroundings);
    const isWatched = (): boolean => this.#isOver;
    const start = (name: string): void =>
      void this.#gateways.set(
        name,
        startGateway(surroundings, { name, limits: this.#limits, database: this.database, hub, registry }),
      );
    this.#restart = (process) => {
      const [name = '', life = '1'] = process.name.split('.');
      this.#gateways.delete(process.name);
      const downMs = 200 + 15_000 * this.#faults.number('downtime');
      this.#time.afterIn(undefined, downMs, () => start(`${name}.${Number(life) + 1}`));
    };
    inProcess(undefined, () => void this.#populate(surroundings, start));
    const { faultsMs } = this.#size;
    this.#time.afterIn(undefined, faultsMs, () => this.#endFaults());
    const lastAt = Math.max(...this.actions.map(({ at }) => at), 0);
    this.#time.afterIn(undefined, lastAt + 1_000, () => this.#watch());
    await this.#time.runUntil(isWatched);
    for (const { process } of this.#gateways.values()) process.isDead = true;
  }

  #restart: (process: SimProcess) => void = () => {};

  #surroundings(): Surroundings {
    return {
      time: this.#time,
      faults: this.#faults,
      ledger: this.ledger,
      log: (line) => this.#note(line),
      harm: (fault, process) => this.#harm(fault, process),
      isDatabaseAway: () => this.#time.now < this.#awayUntil,
      onDeath: (process, work) => this.#addOnDeath(process, work),
    };
  }

  #addOnDeath(process: SimProcess, work: () => void): () => void {
    const own = this.#onDeath.get(process) ?? new Set();
    this.#onDeath.set(process, own.add(work));
    return () => void own.delete(work);
  }

  #harm(fault: FaultKind, process: SimProcess): void {
    if (process.isDead) return;
    switch (fault) {
      case 'die':
        process.isDead = true;
        for (const work of this.#onDeath.get(process) ?? []) work();
        this.#restart(process);
        break;
      case 'stall':
        process.frozenUntil = this.#time.now + 4_000 + 22_000 * this.#faults.number('stall');
        break;
      case 'jump-clock':
        process.skewMs += 120_000 * (this.#faults.number('jump') - 0.5);
        break;
      case 'outage':
        this.#awayUntil = this.#time.now + 500 + 20_000 * this.#faults.number('outage') ** 2;
        break;
      default:
        break;
    }
  }

  #endFaults(): void {
    this.#faults.isOver = true;
    this.#note('no more faults');
  }

  async #populate(surroundings: Surroundings, start: (name: string) => void): Promise<void> {
    const town = await this.#settle(surroundings);
    for (const name of ['g1', 'g2']) start(name);
    for (const space of Object.values(town.spaces)) if (space !== '') follow(town, spaceStream(space));
    const { onlyActions } = this.#options;
    for (const [index, action] of this.actions.entries())
      if (onlyActions === undefined || onlyActions.has(index))
        this.#time.afterIn(undefined, action.at, () => perform(town, action));
    answerCalls(town);
  }

  /** Creates agents, people and spaces, through a gateway without faults. */
  async #settle(surroundings: Surroundings): Promise<Town> {
    const calm = { ...surroundings, faults: new Faults(0, { only: new Set(), now: () => 0, onFault: () => {} }) };
    const parts = { bus: { publish() {} }, scheduler: { enqueue() {} }, limits: this.#limits };
    const store = openRemoteStore(calm, { process: createProcess('setup'), database: this.database, parts });
    const people = { Ada: '', Bob: '', Eve: '' };
    const agents: Record<string, string> = {};
    const guest: Guest | undefined = this.#guest === undefined ? undefined : GUESTS[this.#guest];
    const spaces = { North: '', South: '', East: '' };
    await store.transaction(async (tx) => {
      for (const name of ['Ada', 'Bob'] as const)
        people[name] = (await createEntity(tx, { kind: 'human', displayName: name })).id;
      for (const name of ['Anna', 'Bert', 'Cleo'])
        agents[name] = (await createAgent(tx, { config: configOf(name) })).id;
      const { Ada, Bob } = people;
      const { Anna = '', Bert = '', Cleo = '' } = agents;
      const members = (...ids: string[]) => ids.map((entityId) => ({ entityId }));
      spaces.North = (await createSpace(tx, { name: 'North', members: members(Ada, Anna, Bert) })).id;
      spaces.South = (await createSpace(tx, { name: 'South', members: members(Bob, Bert, Cleo) })).id;
      if (guest === undefined) return;
      const { id: project } =
        guest.spend === undefined ? {} : await createProject(tx, { id: 'east', spend: guest.spend });
      people.Eve = (await createEntity(tx, { kind: 'human', displayName: 'Eve', project })).id;
      agents[GUEST] = (await createAgent(tx, { config: guest.config, project })).id;
      spaces.East = (await createSpace(tx, { name: 'East', members: members(people.Eve, agents[GUEST]), project })).id;
    });
    return {
      ...surroundings,
      ...{
        agents,
        people,
        spaces,
        isGuestAnswered: guest?.isAnswered ?? true,
        isGuestGranted: guest?.isGranted ?? false,
      },
      pickGateway: (place) => this.#pickGateway(place),
      waitingCalls: () => this.#rows<WaitingRow>(WAITING),
      begin: () => void this.#busyClients++,
      end: () => void this.#busyClients--,
      isOver: () => this.#isOver,
    };
  }

  #pickGateway(place: string): SimGateway | undefined {
    const living = [...this.#gateways.values()];
    return living[Math.floor(living.length * this.#faults.number(`gateway for ${place}`))];
  }

  #rows<T>(sql: string): readonly T[] {
    return this.database.raw.prepare(sql).all() as unknown as readonly T[];
  }

  /** Ends the world when nothing has been left to do for a while. */
  #watch(quietSince = Number.POSITIVE_INFINITY): void {
    const { now } = this.#time;
    // A process that comes back may still do what it was about to do.
    const isAwake = [...this.#gateways.values()].every(({ process }) => process.frozenUntil <= now);
    const isQuiet = isAwake && this.#busyClients === 0 && this.#rows(OPEN).length === 0 && this.#isFollowed();
    const since = isQuiet ? Math.min(quietSince, now) : Number.POSITIVE_INFINITY;
    if (now - since >= QUIET_MS || now - START > LONGEST_MS) {
      this.#isOver = true;
      this.#note(isQuiet ? 'all is quiet' : 'it does not come to rest');
    } else this.#time.afterIn(undefined, 1_000, () => this.#watch(since));
  }

  #isFollowed(): boolean {
    const ends = new Map(this.#rows<{ id: string; next_seq: number }>(STREAMS).map((row) => [row.id, row.next_seq]));
    return this.ledger.followed.every(({ stream, seqs }) => (seqs.at(-1) ?? 0) === (ends.get(stream) ?? 1) - 1);
  }
}

const WAITING = `select id, run_id as "runId", wait_kind as kind, agent_id as "agentId", input from calls where wait_status = 'pending' order by id`;
const STREAMS = 'select id, next_seq from streams';
/** The remaining work. Events of a project that has spent its money wait for the next day. */
const OPEN = `select id from inbox_events where status in ('pending', 'claimed') and coalesce(error, '') not like '%"reason":"budget"%'
  union all select id from runs where status = 'running'
  union all select id from threads where lease_owner is not null and coalesce(
    (select status from runs where thread_id = threads.id order by number desc limit 1), '') <> 'failed'
  union all select id from calls where wait_status = 'pending'
  union all select id from plans where next_at is not null`;

const TOOLS = ['charge', 'record', 'transfer', 'look_up', 'confirm'];

function configOf(name: string) {
  return { name, instructions: `You are ${name}.`, tools: TOOLS, replies: 'tools' as const };
}

function registryOf(world: Surroundings): Registry {
  const model = simModel(world);
  const acting = actingTools(world);
  return { tools: simTools(world, acting), definitions: simDefinitions(acting), model: () => model, agentLimits: {} };
}
