/** A command whose types do not matter here, except for what it returns. */
export interface AnyCommand<O = unknown> {
  readonly description?: string;
  readonly inputSchema?: unknown;
  readonly execute: (input: never, ctx: never) => O;
  readonly timeoutMs?: number;
}
