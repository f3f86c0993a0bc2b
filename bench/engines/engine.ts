/**
 * A durable engine and the same work as all others do: an agent's step, i.e. a model whose reply is durable before the tool runs, and
 * the tool, whose result is durable before the next step.
 */
export interface EngineModule {
  /** Engine and store, e.g. "DBOS, PostgreSQL". */
  readonly name: string;
  /** Package and version. */
  readonly of: string;
  /** What of a step survives which failure, with the settings that are measured. */
  readonly guarantee: string;
  /** Starts the engine's worker in this process, and whatever server it brings. */
  open(place: EnginePlace): Promise<Engine>;
  /** A client in another process, as its documentation has it. */
  connect(address: string): Promise<Sender>;
}

export interface EnginePlace {
  /** Of a database of its own on the PostgreSQL server that all share. */
  readonly databaseUrl: string;
  /** An empty folder. */
  readonly folder: string;
  /** Steps of a run, the same every time. */
  readonly steps: number;
  /** The most runs that are under way at once. */
  readonly atOnce: number;
  /** Every engine waits for it where a step asks its model: at once, or after as long as is being measured. */
  modelAnswers(): Promise<void>;
  /** Every engine calls it where a step runs its tool. */
  tool(run: string): number;
}

/** What an engine's process is told of its place. */
export type EngineSettings = Omit<EnginePlace, 'tool' | 'modelAnswers'>;

/** Whose processor time the store's is: PostgreSQL's, the worker's own, or that of a server which the engine brought. */
export type EngineStore = 'postgres' | 'embedded' | { readonly pid: number };

export interface Engine {
  /** For `connect`. */
  readonly address: string;
  readonly store: EngineStore;
  /** Runs of so many steps, all at once, each under its name. */
  runAll(runs: readonly string[]): Promise<unknown>;
  /**
   * Agents that sleep until they get a message, and do one step for each. Gives what a client sends to. Not there: it has no
   * messages that wait while an agent works.
   */
  sleepers?(count: number): Promise<readonly string[]>;
  /** Sleepers that wait for one message, where it has no others. */
  waiters?(count: number): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface Sender {
  /** Resolves when the message is durable. Numbers count the messages to each agent from 0. */
  send(agent: string, number: number): Promise<unknown>;
  close(): Promise<void>;
}
