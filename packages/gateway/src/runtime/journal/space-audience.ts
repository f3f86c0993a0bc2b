import type { Kysely } from 'kysely';
import { requireRow } from '../../ports/store/require-row.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Params, Statement } from '../../ports/store/statement.ts';
import type { SpaceEvent, Write } from '../run/run-write.ts';

/** The agent is no longer in a space in which it shows something, or the space is archived. All writes of the transaction are undone. */
export class NoLongerShown extends Error {
  override readonly name: string = 'NoLongerShown';
  readonly spaceId: string;

  constructor(spaceId: string) {
    super(`Space ${spaceId} is archived, or the agent is no longer in it.`);
    this.spaceId = spaceId;
  }
}

/** True for an event that shows something. The other events end what was shown. */
export function isShown(write: Write): write is SpaceEvent {
  return write.kind === 'space-event' && !ENDS.has(write.type);
}

const ENDS: ReadonlySet<string> = new Set(['message.cancelled', 'tool-call.cancelled']);

/** The id of the message or call that the event is about. */
export function shownId({ payload: { callId, streamId } }: SpaceEvent): string {
  return String(callId ?? streamId);
}

/** The spaces in which the writes show something. */
export function spacesShown(writes: readonly Write[]): ReadonlySet<string> {
  const spaces = new Set<string>();
  for (const write of writes) if (isShown(write)) spaces.add(write.spaceId);
  return spaces;
}

/** The spaces that the writes check anyway, under the lock of the space: they open a card there, or post a message that they also show. */
export function spacesChecked(writes: readonly Write[]): ReadonlySet<string> {
  const cards = writes.flatMap((write) => (write.kind === 'open-card' ? [write.card.spaceId] : []));
  const posting = new Set(writes.flatMap((write) => (write.kind === 'staged-writes' ? [write.callId] : [])));
  if (posting.size === 0) return new Set(cards);
  const messages = writes.filter((write) => isShown(write) && write.type.startsWith('message.')) as SpaceEvent[];
  // A message may have been shown in one space before it was sent to another.
  const spaces = new Map(messages.map((message) => [shownId(message), message.spaceId]));
  return new Set([...cards, ...[...posting].flatMap((callId) => spaces.get(callId) ?? [])]);
}

interface Audience {
  readonly spaceId: string;
  /** The agent's entity. */
  readonly entityId: string;
}

/**
 * Fails if the agent is no longer in the space, or if it is archived. The statement itself fails, so that nothing waits for its answer: deltas
 * are written several times a second. It locks nothing: an event that is written at the very moment of the removal may come after it.
 */
export const requireAudience: Statement<Audience, unknown> = requireRow(
  (db: Kysely<Tables>, { spaceId, entityId }: Params<Audience>) =>
    db
      .selectFrom('memberships')
      .innerJoin('spaces', 'spaces.id', 'memberships.space_id')
      .select('memberships.space_id')
      .where('memberships.space_id', '=', spaceId)
      .where('memberships.entity_id', '=', entityId)
      .where('memberships.left_at', 'is', null)
      .where('spaces.archived_at', 'is', null)
      .where('spaces.deleted_at', 'is', null),
  { types: { spaceId: 'text', entityId: 'text' } },
);
