import type { HookScheme } from '../../config/hook-config.ts';

/** A hook of the configuration, with its secrets. */
export interface Hook {
  readonly name: string;
  /** The name of an agent of the configuration file. */
  readonly agent: string;
  readonly verify: HookScheme;
  /** One of these has signed each request. */
  readonly secrets: readonly string[];
  /** The external tools whose calls it answers. Undefined: it takes events. */
  readonly answers: readonly string[] | undefined;
}

/** By name. */
export type Hooks = ReadonlyMap<string, Hook>;
