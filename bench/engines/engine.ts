/**
 * A durable engine that does the same work as all others: an agent's step, i.e. a model whose reply is durable before the tool runs, and
 * the tool, whose result is durable before the next step.
 */
export interface EngineModule {
  /** Engine and store, e.g. "DBOS, PostgreSQL". */
  readonly name: string;
  /** Package and version. */
  readonly of: string;
  /** Which failures a step survives with the settings that are measured. */
  readonly guarantee: string;
  /** Starts the engine's worker in this process, and its server if it has one. */
  open(place: EnginePlace): Promise<Engine>;
  /** A client in another process, as the engine's documentation shows it. */
  connect(address: string): Promise<Sender>;
}

export interface EnginePlace {
  /** A separate database on the PostgreSQL server that all engines share. */
  readonly databaseUrl: string;
  /** An empty folder. */
  readonly folder: string;
  /** Steps of a run, the same in every run. */
  readonly steps: number;
  /** The most runs that are active at once. */
  readonly atOnce: number;
  /** Every engine awaits it where a step asks its model. It resolves at once, or after the delay that is being measured. */
  modelAnswers(): Promise<void>;
  /** Every engine calls it where a step runs its tool. */
  tool(run: string): number;
}

/** The part of `EnginePlace` that is sent to an engine's process. */
export type EngineSettings = Omit<EnginePlace, 'tool' | 'modelAnswers'>;

/** The process whose processor time counts as the store's: PostgreSQL, the worker itself, or a server of the engine. */
export type EngineStore = 'postgres' | 'embedded' | { readonly pid: number };

export interface Engine {
  /** The argument of `connect`. */
  readonly address: string;
  readonly store: EngineStore;
  /** Starts all these runs at once, each with `steps` steps. */
  runAll(runs: readonly string[]): Promise<unknown>;
  /**
   * Starts agents that sleep until they get a message, and do one step for each message. Returns their addresses. Undefined if the engine
   * cannot queue messages for an agent that works.
   */
  sleepers?(count: number): Promise<readonly string[]>;
  /** Starts sleepers that wait for a single message, if the engine has no others. */
  waiters?(count: number): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface Sender {
  /** Resolves when the message is durable. Numbers count the messages to each agent from 0. */
  send(agent: string, number: number): Promise<unknown>;
  close(): Promise<void>;
}
