import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Policy } from '../policies/policy.ts';
import type { ToolResult } from '../results/result.ts';
import type { JsonSchemaObject } from '../schema/json-schema-object.ts';
import type { Session } from '../session/session.ts';
import { checkDefinition } from './check-definition.ts';
import { assertKnownFields } from './known-fields.ts';
import type { ToolContext } from './tool-context.ts';

/** A named capability with an input schema. `I` is the parsed input, `O` the output, `W` the input as it is written. */
export interface ToolDefinition<I = Record<string, unknown>, O = unknown, W = I> {
  /** 1–200 characters after trimming. As a function it is asked at each step, so the model reads the current text. */
  description: string | ((session: Session) => string);
  /** An id to be referred to by. */
  id?: string;
  /** If given, it must equal the key in the tool set. */
  name?: string;
  inputSchema: StandardSchemaV1<W, I> | JsonSchemaObject;
  outputSchema?: StandardSchemaV1<unknown, O> | JsonSchemaObject;
  /** Without it the tool is offered only where somebody else answers. */
  execute?: (input: I, ctx: ToolContext) => ToolReturn<O>;
  /** The successful output is the response, and the turn ends. */
  terminal?: boolean;
  /** What a call changes: nothing, this session (and its files), or the world. Default 'external'. */
  effects?: 'none' | 'session' | 'external';
  /** May run again after an unknown outcome, with the same idempotencyKey. */
  idempotent?: boolean;
  /** How long a call may take. Default: as long as its turn. */
  timeoutMs?: number;
  approval?: boolean | ((input: I, ctx: ToolContext) => boolean | Promise<boolean>);
  /** A condensing slot: only the newest result of a slot stays whole in the model's view. */
  keepLatest?: string;
  examples?: readonly ToolExample<NoInfer<W>, NoInfer<O>>[];
  /** How the model reads a successful value. Default: text as it is, anything else as JSON. */
  render?: (value: NoInfer<O>) => string;
  /** Undoes an external effect when the turn is rewound past it. */
  compensate?: (value: NoInfer<O>, input: I, ctx: ToolContext) => void | Promise<void>;
  forbidsRewind?: boolean;
  /** Its success hands over to the host: the turn stops with `{ reason: 'transition' }` after the whole batch. */
  transition?: boolean;
  policies?: readonly Policy[];
}

export interface ToolExample<W, O> {
  description: string;
  input: W;
  output?: O;
}

/** What `execute` may return: a value, a result that says more, a promise of either, or values over time, the last of which counts. */
export type ToolReturn<O> = O | ToolResult<O> | Promise<O | ToolResult<O>> | AsyncIterable<O | ToolResult<O>>;

/** A checked definition. A plain object: a spread copy with another `execute` is a tool again. */
export type Tool<I = Record<string, unknown>, O = unknown, W = I> = Readonly<ToolDefinition<I, O, W>> & ToolMark;

/** A tool whose types do not matter here. */
export interface AnyTool extends ToolMark {
  readonly description: string | ((session: Session) => string);
  readonly id?: string;
  readonly name?: string;
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
  readonly execute?: (input: never, ctx: ToolContext) => unknown;
  readonly terminal?: boolean;
  readonly effects?: 'none' | 'session' | 'external';
  readonly idempotent?: boolean;
  readonly timeoutMs?: number;
  readonly approval?: boolean | ((input: never, ctx: ToolContext) => boolean | Promise<boolean>);
  readonly keepLatest?: string;
  readonly examples?: readonly ToolExample<unknown, unknown>[];
  readonly render?: (value: never) => string;
  readonly compensate?: (value: never, input: never, ctx: ToolContext) => void | Promise<void>;
  readonly forbidsRewind?: boolean;
  readonly transition?: boolean;
  readonly policies?: readonly Policy[];
}

// Tells our tools from the AI SDK's, which have the same shape and other rules. Enumerable, so that a spread copy keeps it.
export const TOOL: unique symbol = Symbol.for('lastcall.tool') as never;

/** Marks a checked definition. */
export interface ToolMark {
  readonly [TOOL]: true;
}

/** Defines a tool. Refuses a definition that cannot work, naming the tool and the field. */
export function tool<I = Record<string, unknown>, O = unknown, W = I, Terminal extends boolean = boolean>(
  definition: ToolDefinition<I, O, W> & { terminal?: Terminal },
): Tool<I, O, W> & TerminalMark<Terminal> {
  const name = definition?.name ?? '(unnamed)';
  const checked = checkDefinition(definition as unknown as ToolDefinition, name);
  // Here alone: a spread copy may carry a host's own marks, and tools made elsewhere have fields of their own.
  assertKnownFields(definition, name);
  const made = { ...(checked as unknown as ToolDefinition<I, O, W>), [TOOL]: true as const };
  return Object.freeze(made) as Tool<I, O, W> & TerminalMark<Terminal>;
}

/** That a tool is terminal is part of its type, so that a turn's output can be inferred. */
export type TerminalMark<Terminal> = [Terminal] extends [true] ? { readonly terminal: true } : unknown;
