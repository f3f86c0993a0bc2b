import type { Policy, Prompt, Resource, Session, Slice } from '@lastcall/core';
import type { Plugin } from '@lastcall/core/prompt';
import type { Charter, TreeJson } from '@lastcall/machines';
import type { ToolEntry } from './registered-tool.ts';

/**
 * What an agent is, in TypeScript: everything that cannot be written as data. Agents name it: `{ name: 'Clerk', definition: 'clerk' }`.
 * Several agents may share one definition; each has its own session, files and transcript.
 */
export interface AgentDefinition {
  /** A text, or a prompt of sections. The instructions of the agent's data follow as the last section. */
  readonly instructions?: string | Prompt | undefined;
  /** The agent's own tools, by name. */
  readonly tools?: Readonly<Record<string, ToolEntry>> | undefined;
  /** The slices of its session that no section and no tool brings. */
  readonly slices?: readonly AnySlice[] | undefined;
  /** What its tools use and did not make. Each opens when a call first needs it. */
  readonly resources?: readonly AnyResource[] | undefined;
  /** True if its tools have files that last. Default false: its tools cannot write files. */
  readonly files?: boolean | undefined;
  /** Rules about the calls of all its tools, also of those that the nodes of a machine have. */
  readonly policies?: readonly Policy[] | undefined;
  /** For an agent whose tools and instructions depend on its mode. `mode` chooses it. */
  readonly plugins?: readonly AnyPlugin[] | undefined;
  /** Passed to every plugin, as in `buildModes`. Default `{}`. */
  readonly ctx?: unknown;
  /** The names that `mode` returns. With this list, a mode that cannot work is refused when the gateway starts. */
  readonly modes?: readonly string[] | undefined;
  /** Chooses the mode at the start of each run. */
  readonly mode?: ((ctx: ModeContext) => string) | undefined;
  /** What the model reads last in each request, e.g. the state of a game. It is not part of the transcript. */
  readonly observe?: ((session: Pick<Session, 'read'>) => string) | undefined;
  /**
   * Gives the agent a tool `rewind`, which goes back to the start of the run. Plugins pick it as they pick the other tools. Default
   * false.
   */
  readonly rewind?: boolean | { readonly max?: number | undefined } | undefined;
  /** Makes the agent a machine: its nodes have the instructions, and `tools` are those that every node has too. */
  readonly machine?: Charter | undefined;
  /** The node that a machine begins with. Default: the first node of the charter. */
  readonly root?: string | undefined;
  /** Repairs the stored tree of a machine that does not fit the charter any more. */
  readonly migrate?: ((tree: TreeJson) => TreeJson) | undefined;
}

/** What `mode` may look at. */
export interface ModeContext {
  readonly session: Pick<Session, 'read'>;
  /** The events that the run begins with, oldest first. */
  readonly events: readonly { readonly type: string; readonly [field: string]: unknown }[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

// biome-ignore lint/suspicious/noExplicitAny: the states of the slices differ
type AnySlice = Slice<any>;
// biome-ignore lint/suspicious/noExplicitAny: the types of the resources differ
type AnyResource = Resource<any>;
// biome-ignore lint/suspicious/noExplicitAny: a plugin may name the modes that it knows
type AnyPlugin = Plugin<any, any>;
