import type { Services } from '../ports/services.ts';
import { expireDue } from './pending/expire-due.ts';
import { fireDuePlans } from './plans/fire-due-plans.ts';
import { sweepStreams } from './streams/sweep-streams.ts';

/** The periodic tasks: fire due plans, expire calls, and delete old stream events. */
export function sweepsOf(services: Services): readonly (() => Promise<unknown>)[] {
  return [() => fireDuePlans(services), () => expireDue(services), () => sweepStreams(services)];
}
