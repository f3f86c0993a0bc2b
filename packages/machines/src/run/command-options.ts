import type { Clock, Journal } from '@lastcall/core';
import { type KnownNames, knownNames } from '@lastcall/core/internal';

export interface CommandOptions {
  /**
   * The instance whose command to run. Default: the nearest that has one of this name, from the primary up to the root.
   */
  instanceId?: string;
  /**
   * Stores what the command changed before it counts. Default: the journal of the current run; between two runs without
   * one, the next run stores it.
   */
  journal?: Journal;
  /** The command gets it as `ctx.idempotencyKey`, and the journal with the record of the command. */
  idempotencyKey?: string;
  signal?: AbortSignal;
  clock?: Clock;
}

export const COMMAND_OPTIONS: KnownNames = knownNames<CommandOptions>({
  instanceId: true,
  journal: true,
  idempotencyKey: true,
  signal: true,
  clock: true,
});
