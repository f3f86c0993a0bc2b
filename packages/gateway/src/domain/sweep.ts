import type { Services } from '../ports/services.ts';
import { expireDue } from './pending/expire-due.ts';
import { fireDuePlans } from './plans/fire-due-plans.ts';
import { sweepStreams } from './streams/sweep-streams.ts';

/** What is due, whoever was to see to it: plans, expiries, and stream events that nobody can miss any more. */
export function sweepsOf(services: Services): readonly (() => Promise<unknown>)[] {
  return [() => fireDuePlans(services), () => expireDue(services), () => sweepStreams(services)];
}
