import type { ToolSet } from '@lastcall/core';

/** A checked pack. */
export interface Pack<S = unknown> {
  readonly name: string;
  readonly state: unknown;
  readonly initialState: S | undefined;
  readonly tools: ToolSet;
  readonly instructions: string | ((state: never) => string) | undefined;
}
