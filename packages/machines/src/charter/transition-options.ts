import type { NodeRef } from './node-types.ts';

/** What a transition says of itself, whatever its input is. */
export interface TransitionOptions {
  /** 1–1,024 characters. Default: its name, and where it leads if that is known. */
  description?: string;
  /** The nodes it may lead to, where they are known: they are checked when the charter is built, drawn, and restored. */
  targets?: readonly NodeRef[];
  /** Whether the handler acts outside the machine. Default 'session': it may run again after a crash. */
  effects?: 'session' | 'external';
  timeoutMs?: number;
}
