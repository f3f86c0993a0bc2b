import type { NodeRef } from './node-types.ts';

/** The options of a transition that do not depend on its input. */
export interface TransitionOptions {
  /** 1–1,024 characters. Default: its name, and its targets if they are known. */
  description?: string;
  /**
   * The nodes it may lead to. They are checked when the charter is built, drawn in the diagram, and found when a
   * machine is restored.
   */
  targets?: readonly NodeRef[];
  /** Whether the handler acts outside the machine. Default 'session': it may run again after a crash. */
  effects?: 'session' | 'external';
  timeoutMs?: number;
}
