import type { DefaultModel } from '../models/default-model.ts';

/** What a gateway found when it started. */
export interface Found {
  /** A description of the store, e.g. `SQLite in .lastcall`. */
  readonly store: string;
  /** The model of agents that name none, and why it is that one. */
  readonly model: DefaultModel;
  /** Why some agents cannot work with their model, or why a better model is not used, with the command that fixes it. */
  readonly problems: readonly string[];
  readonly agents: number;
  /** The tools of the file and of the registry. Built-in tools and tools of MCP servers do not count. */
  readonly tools: number;
  readonly spaces: number;
}
