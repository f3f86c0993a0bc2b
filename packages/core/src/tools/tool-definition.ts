import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ToolContext } from '../contract/tool-context.ts';
import type { ToolExample } from '../contract/tool-example.ts';
import type { ToolReturn } from '../contract/tool-return.ts';
import type { Policy } from '../policies/policy.ts';
import type { JsonSchemaObject } from '../schema/json-schema-object.ts';
import type { Session } from '../session/session.ts';
import type { AnySlice } from '../session/slice.ts';

/** A named capability with an input schema. `I` is the parsed input, `O` the output, `W` the input as it is written. */
export interface ToolDefinition<I = Record<string, unknown>, O = unknown, W = I> {
  /** 1–1,024 characters after trimming. A function is called at each step, so the model reads the current text. */
  description: string | ((session: Session) => string);
  /** An id to refer to the tool by. */
  id?: string;
  /** If given, it must equal the key in the tool set. */
  name?: string;
  inputSchema: StandardSchemaV1<W, I> | JsonSchemaObject;
  outputSchema?: StandardSchemaV1<unknown, O> | JsonSchemaObject;
  /** Without it the tool is offered only if calls can be answered from outside. */
  execute?: (input: I, ctx: ToolContext) => ToolReturn<O>;
  /** True if the successful output is the response, and the turn ends. */
  terminal?: boolean;
  /** What a call changes: nothing, this session (and its files), or the outside world. Default 'external'. */
  effects?: 'none' | 'session' | 'external';
  /** True if it may run again after an unknown outcome, with the same idempotencyKey. */
  idempotent?: boolean;
  /** How long a call may take. Default: as long as its turn. */
  timeoutMs?: number;
  approval?: boolean | ((input: I, ctx: ToolContext) => boolean | Promise<boolean>);
  /** A condensing slot: only the newest result of a slot stays whole in the model's view. */
  keepLatest?: string;
  examples?: readonly ToolExample<NoInfer<W>, NoInfer<O>>[];
  /** How the model reads a successful value. Default: text unchanged, anything else as JSON. */
  render?: (value: NoInfer<O>) => string;
  /** Undoes an external effect when the turn is rewound past it. */
  compensate?: (value: NoInfer<O>, input: I, ctx: ToolContext) => void | Promise<void>;
  forbidsRewind?: boolean;
  /** Its success hands control to the host: the turn stops with `{ reason: 'transition' }` after the whole batch. */
  transition?: boolean;
  policies?: readonly Policy[];
  /** The slices that it uses: they are registered when the tool is offered. Reading a slice also registers it. */
  slices?: readonly AnySlice[];
}
