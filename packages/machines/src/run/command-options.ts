import type { Clock } from '@lastcall/core';

export interface CommandOptions {
  /** Whose command. Default: the nearest that has one of this name, from the primary up to the root. */
  instanceId?: string;
  signal?: AbortSignal;
  clock?: Clock;
}
