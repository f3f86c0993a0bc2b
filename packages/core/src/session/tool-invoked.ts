import type { Settlement } from '../results/outcome.ts';
import type { SessionEvent } from './slice.ts';

/** The event every session is told once for each call that ended, whatever the end. */
export interface ToolInvoked extends SessionEvent, Settlement {
  readonly type: 'ToolInvoked';
}

// The settlement first: an engine copies an object quickly where nothing stands before it.
export function toToolInvoked(settlement: Settlement): ToolInvoked {
  return { ...settlement, type: 'ToolInvoked' };
}
