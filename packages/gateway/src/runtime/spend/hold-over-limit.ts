import { DEFAULT_CURRENCY } from '../../config/prices.ts';
import type { DaySpendLimits } from '../../config/spend-limits.ts';
import type { InboxEvent } from '../../domain/inbox/inbox-event.ts';
import type { EventRow } from '../../domain/inbox/waiting-events.ts';
import { hasHeld, heldReason, releaseHeld } from '../../domain/usage/hold-events.ts';
import { type SpendScope, spentOn } from '../../domain/usage/spent.ts';
import { dayOf } from '../../domain/usage/usage-row.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import { announceHeld } from '../journal/announce-failure.ts';
import type { HeldThread } from '../lease/lease.ts';
import type { BuiltInAgent } from '../tools/built-in-context.ts';
import { dayLimitReached, hasDayLimit, type SpendRefusal, textForPeople } from './spend-refusal.ts';

interface DueEvents {
  readonly agent: Pick<BuiltInAgent, 'id' | 'entityId'>;
  readonly events: readonly EventRow[];
  readonly project: { readonly id: string; readonly spend: DaySpendLimits };
  readonly perAgent: DaySpendLimits;
  readonly perPerson: DaySpendLimits | undefined;
  readonly currency: string | undefined;
}

/**
 * The events that a run may take now. Those of an agent, a project or a person that has used up a limit of the day wait for the next day,
 * without a run: each run would only read them and stop. Commands do not wait. Without limits this does nothing.
 */
export async function withoutOverLimit(held: HeldThread, due: DueEvents): Promise<readonly EventRow[]> {
  const { agent, project, events, perAgent, perPerson = {}, currency } = due;
  if (events.length === 0 || ![perAgent, project.spend, perPerson].some(hasDayLimit)) return events;
  const { tx } = held;
  const ofAll = [
    [{ scope: 'agent', id: agent.id }, perAgent],
    [{ scope: 'project', id: project.id }, project.spend],
  ] as const;
  let isBelowAgain = false;
  for (const [scope, limits] of ofAll) {
    const own = await reachedBy(tx, scope, limits, currency);
    if (own === 'no longer') isBelowAgain = true;
    else if (own !== undefined) {
      await hold(held, due, own, events.filter(waitsForModel));
      return events.filter((event) => !waitsForModel(event));
    }
  }
  let rest = events;
  const people = hasDayLimit(perPerson) ? new Set(events.flatMap((event) => personOf(event) ?? [])) : [];
  for (const id of people) {
    const reached = await reachedBy(tx, { scope: 'person', id }, perPerson, currency);
    if (reached === 'no longer') isBelowAgain = true;
    if (reached === undefined || reached === 'no longer') continue;
    await hold(
      held,
      due,
      reached,
      rest.filter((event) => personOf(event) === id),
    );
    rest = rest.filter((event) => personOf(event) !== id);
  }
  // Not if all events wait: two that wait for one limit would release each other for ever, because another limit is no longer reached.
  if (isBelowAgain && rest.length > 0) await takeHeld(tx, agent.id);
  return rest;
}

interface Reached extends SpendRefusal {
  /** The run that the limit stopped. */
  readonly runId: string;
}

/**
 * Requests under way count with what is expected of them. If they cost less, a limit that has stopped a run is no longer reached: what
 * waits for it must not be overtaken by what came later.
 */
async function takeHeld(tx: Tx, agentId: string): Promise<void> {
  if (!(await hasHeld(tx, agentId))) return;
  tx.runAlone();
  await releaseHeld(tx, agentId);
}

/** The limit of the day that has stopped a run. `no longer`: it has, but requests cost less than expected, or it was raised and is not reached. */
async function reachedBy(
  tx: Tx,
  scope: SpendScope,
  limits: DaySpendLimits,
  currency: string = DEFAULT_CURRENCY,
): Promise<Reached | 'no longer' | undefined> {
  if (!hasDayLimit(limits)) return undefined;
  const now = tx.now();
  const day = dayOf(now);
  const noted = await tx.db
    .selectFrom('spend_reached')
    .select(['run_id', 'amount'])
    .where('scope', '=', scope.scope)
    .where('id', '=', scope.id)
    .where('day', '=', day)
    .executeTakeFirst();
  if (noted === undefined) return undefined;
  const reached = dayLimitReached(scope, limits, await spentOn(tx.db, scope, { day, currency }), now);
  if (reached === undefined) return 'no longer';
  // Another limit than the one that was noted, e.g. a raised one: it stops a run first, so that the operator is told of it too.
  return reached.limit === Number(noted.amount) ? { ...reached, runId: noted.run_id } : undefined;
}

async function hold(
  { tx }: HeldThread,
  { agent }: DueEvents,
  reached: Reached,
  events: readonly EventRow[],
): Promise<void> {
  if (events.length === 0) return;
  // It writes rows of spaces, which others may write too.
  tx.runAlone();
  const { until = 0, runId } = reached;
  const ids = events.map(({ id }) => id);
  await tx.db
    .updateTable('inbox_events')
    .set({ available_at: until, error: heldReason(until) })
    .where('id', 'in', ids)
    .execute();
  await announceHeld(tx, { runId, agent }, { text: textForPeople(reached), until, events: events.map(toEvent) });
}

function toEvent({ payload }: EventRow): InboxEvent {
  return fromJson<InboxEvent>(payload);
}

/** A command runs without a model, and its caller waits for it. */
function waitsForModel(row: EventRow): boolean {
  if (row.type !== 'command') return true;
  const event = toEvent(row);
  return event.type === 'command' && event.hasRun === true;
}

function personOf(row: EventRow): string | undefined {
  if (row.type !== 'space_message') return undefined;
  const event = toEvent(row);
  return event.type === 'space_message' && event.from.kind === 'human' ? event.from.entityId : undefined;
}
