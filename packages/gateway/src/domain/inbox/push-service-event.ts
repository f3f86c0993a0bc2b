import type { Services } from '../../ports/services.ts';
import { toJson } from '../../ports/store/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import { lockAgent } from '../agents/lock-agent.ts';
import { plainText } from '../entities/column-text.ts';
import { invalid, tooLarge } from '../entities/invalid.ts';
import { newId } from '../new-id.ts';
import { countWaiting, inboxFull, inboxLimit } from './inbox-room.ts';
import { pushEvent } from './push-event.ts';

export interface NewServiceEvent {
  readonly agentId: string;
  /** The same one again is the same event. Default: a new one. */
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

/** Something happened elsewhere that the agent is to know. */
export async function pushServiceEvent(
  services: Services,
  tx: Tx,
  given: NewServiceEvent,
): Promise<PushedServiceEvent> {
  const { agentId, source, name, data = null } = given;
  const eventId = ownEventId(given.eventId);
  plainText(source, 'source', { min: 1, max: 200 });
  plainText(name, 'name', { min: 1, max: 200 });
  assertSize(data, services.limits.resultBytes);
  const agent = await lockAgent(tx, agentId, 'inbox');
  const event = { type: 'service', source, name, data } as const;
  const isNew = await pushEvent(services, tx, { agentId, eventId, event });
  if (isNew) {
    const limit = inboxLimit(agent, services.limits);
    // Counted with this one, after it was found to be new: a repetition is answered also when the inbox is full.
    if ((await countWaiting(tx.db, agentId)) > limit) throw inboxFull(agentId, limit);
  }
  return { eventId, duplicate: !isNew };
}

/** The gateway's own events have ids of these forms: pushed from outside, one would keep the real one from being delivered. */
const RESERVED: readonly string[] = ['message:', 'tool_result:', 'plan:'];

function ownEventId(eventId: string | undefined): string {
  if (eventId === undefined) return `service:${newId()}`;
  plainText(eventId, 'eventId', { min: 1, max: 200 });
  if (RESERVED.some((prefix) => eventId.startsWith(prefix)))
    throw invalid('eventId', `must not begin with ${RESERVED.map((prefix) => `"${prefix}"`).join(', ')}.`);
  return eventId;
}

function assertSize(data: unknown, limit: number): void {
  const came = Buffer.byteLength(toJson(data));
  if (came > limit) throw tooLarge('data', { limit, came, unit: 'bytes of JSON' });
}
