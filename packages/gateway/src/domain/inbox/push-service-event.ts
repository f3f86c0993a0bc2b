import { toJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import { lockAgent } from '../agents/lock-agent.ts';
import { plainText } from '../entities/column-text.ts';
import { invalid, tooLarge } from '../entities/invalid.ts';
import { newId } from '../new-id.ts';
import { countWaiting, inboxFull, inboxLimit } from './inbox-capacity.ts';
import { pushEvent } from './push-event.ts';

export interface NewServiceEvent {
  readonly agentId: string;
  /** Pushing the same id again is the same event. Default: a new id. */
  readonly eventId?: string | undefined;
  /** Who pushes it. */
  readonly source: string;
  readonly name: string;
  readonly data?: unknown;
}

export interface PushedServiceEvent {
  readonly eventId: string;
  readonly duplicate: boolean;
}

/** Pushes an event of an outside service to the agent. */
export async function pushServiceEvent(tx: Tx, newEvent: NewServiceEvent): Promise<PushedServiceEvent> {
  return await pushOwnServiceEvent(tx, { ...newEvent, eventId: checkEventId(newEvent.eventId) });
}

/** The same for an event whose id the gateway has made. */
export async function pushOwnServiceEvent(
  tx: Tx,
  newEvent: NewServiceEvent & { readonly eventId: string },
): Promise<PushedServiceEvent> {
  const { agentId, eventId, source, name, data = null } = newEvent;
  plainText(source, 'source', { min: 1, max: 200 });
  plainText(name, 'name', { min: 1, max: 200 });
  assertSize(data, tx.limits.resultBytes);
  const agent = await lockAgent(tx, agentId, 'inbox');
  const event = { type: 'service', source, name, data } as const;
  const isNew = await pushEvent(tx, { threadId: agentId, eventId, event });
  if (isNew) {
    const limit = inboxLimit(agent, tx.limits);
    // Counted after the insert, including this event: a repeated event must be answered even if the inbox is full.
    if ((await countWaiting(tx.db, agentId)) > limit) throw inboxFull(agentId, limit);
  }
  return { eventId, duplicate: !isNew };
}

/**
 * The gateway's own events have ids with these prefixes. One pushed from outside would keep the real event from being
 * delivered.
 */
const RESERVED_PREFIXES: readonly string[] = ['message:', 'tool_result:', 'plan:', 'command:', 'hook:'];

function checkEventId(eventId: string | undefined): string {
  if (eventId === undefined) return `service:${newId()}`;
  plainText(eventId, 'eventId', { min: 1, max: 200 });
  if (RESERVED_PREFIXES.some((prefix) => eventId.startsWith(prefix)))
    throw invalid('eventId', `must not begin with ${RESERVED_PREFIXES.map((prefix) => `"${prefix}"`).join(', ')}.`);
  return eventId;
}

function assertSize(data: unknown, limit: number): void {
  const came = Buffer.byteLength(toJson(data));
  if (came > limit) throw tooLarge('data', { limit, came, unit: 'bytes of JSON' });
}
