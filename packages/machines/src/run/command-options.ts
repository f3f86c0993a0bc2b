import type { Clock } from '@lastcall/core';

export interface CommandOptions {
  /**
   * The instance whose command to run. Default: the nearest that has one of this name, from the primary up to the root.
   */
  instanceId?: string;
  signal?: AbortSignal;
  clock?: Clock;
}
