import type { Kysely } from 'kysely';
import type { InboxEvent, ToolResultEvent } from '../../domain/inbox/inbox-event.ts';
import type { EventRow } from '../../domain/inbox/waiting-events.ts';
import { forShare } from '../../ports/store/for-share.ts';
import { pipeline } from '../../ports/store/pipeline.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';

/** The space that woke an agent. */
export interface WakingSpace {
  readonly spaceId: string;
  /** True if people wait for a reply there: a person wrote, or answered a call. False if only agents or services did. */
  readonly isAwaited: boolean;
}

/**
 * Finds the spaces that events come from. A run begins in the first that its agent is still in: that of the newest message of a person or
 * answer to a call, else that of the newest message, else that of the card whose call expired. The order depends on the events alone, so
 * that a worker that takes the run over finds the same.
 */
export async function findWakingSpaces(
  tx: Tx,
  rows: readonly Pick<EventRow, 'id' | 'type' | 'payload'>[],
): Promise<readonly WakingSpace[]> {
  const newestFirst = rows.filter(({ type }) => HAVE_SPACES.has(type)).toSorted((one, other) => other.id - one.id);
  const events = newestFirst.map(({ payload }) => fromJson<InboxEvent>(payload));
  const results = events.filter((event) => event.type === 'tool_result');
  const cards = results.length === 0 ? NO_CARDS : await findCards(tx, results);
  const found = events.flatMap((event): Waking[] => {
    if (event.type === 'space_message') {
      const { spaceId, from } = event;
      return [{ spaceId, isAwaited: from.kind === 'human', isMessage: true }];
    }
    const card = event.type === 'tool_result' ? cards.get(event.callId) : undefined;
    return card === undefined ? [] : [{ ...card, isMessage: false }];
  });
  const rankOf = ({ isAwaited, isMessage }: Waking): number => (isAwaited ? 0 : isMessage ? 1 : 2);
  const ranked = found.toSorted((one, other) => rankOf(one) - rankOf(other));
  return ranked.filter(({ spaceId }, at) => ranked.findIndex((one) => one.spaceId === spaceId) === at);
}

/**
 * The space in which a run that is taken over began. Undefined if it had none, or if the agent has left it since: what was written for one
 * space must not be posted in the next of the list.
 */
export async function spaceOfOpenRun(
  tx: Tx,
  { entityId, createdAt }: { readonly entityId: string; readonly createdAt: number },
  spaces: readonly WakingSpace[],
): Promise<WakingSpace | undefined> {
  if (spaces.length === 0) return undefined;
  const memberships = await tx.db
    .selectFrom('memberships')
    .select(['space_id', 'joined_at', 'left_at'])
    .where('entity_id', '=', entityId)
    .where(
      'space_id',
      'in',
      spaces.map(({ spaceId }) => spaceId),
    )
    .execute();
  for (const space of spaces) {
    const membership = memberships.find(({ space_id }) => space_id === space.spaceId);
    if (membership === undefined) return undefined;
    const { joined_at, left_at } = membership;
    if (left_at === null && joined_at <= createdAt) return space;
    if (left_at === null || left_at >= createdAt) return undefined;
  }
  return undefined;
}

interface Waking extends WakingSpace {
  readonly isMessage: boolean;
}

const HAVE_SPACES: ReadonlySet<string> = new Set<InboxEvent['type']>(['space_message', 'tool_result']);
const NO_CARDS: ReadonlyMap<string, WakingSpace> = new Map();

/** The spaces that show the calls, by call. A call without a card has no space. */
async function findCards(tx: Tx, results: readonly ToolResultEvent[]): Promise<ReadonlyMap<string, WakingSpace>> {
  const callIds = results.map(({ callId }) => callId);
  const cards = await tx.db
    .selectFrom('messages')
    .select(['call_id', 'space_id'])
    .where('call_id', 'in', callIds)
    .execute();
  const answererIds = results.flatMap(({ resolvedBy }) => resolvedBy?.entityId ?? []);
  const people =
    answererIds.length === 0
      ? []
      : await tx.db
          .selectFrom('entities')
          .select('id')
          .where('id', 'in', answererIds)
          .where('kind', '=', 'human')
          .execute();
  const isPerson = new Set(people.map(({ id }) => id));
  const byCall = new Map(results.map((result) => [result.callId, result]));
  return new Map(
    cards.flatMap(({ call_id: callId, space_id: spaceId }) => {
      const result = callId === null ? undefined : byCall.get(callId);
      if (callId === null || result === undefined) return [];
      const { outcome, resolvedBy } = result;
      // Without an entity an operator answered.
      const isAwaited = outcome.status !== 'expired' && (resolvedBy === undefined || isPerson.has(resolvedBy.entityId));
      return [[callId, { spaceId, isAwaited }] as const];
    }),
  );
}

/**
 * Makes the space the agent's active one, and returns true. Returns false if the agent is no longer a member. The lock makes a removal
 * of the member wait for us, or lets us see it: otherwise the space could stay active although the agent has left it. No two claims
 * need the same membership, so those of many agents can do this in one transaction.
 */
export async function wakeIn(
  tx: Tx,
  { id: agentId, entityId }: { readonly id: string; readonly entityId: string },
  spaceId: string,
): Promise<boolean> {
  const share = tx.isShared ? shareIfFree : shareMembership;
  // Read after the lock: an archiving that locked the membership first is seen, and one that comes later clears the active space.
  const [[member], [space]] = await pipeline(share(tx.db, { spaceId, entityId }), readArchivedAt(tx.db, { spaceId }));
  if (member === undefined) {
    const [locked] = tx.isShared ? await readMembership(tx.db, { spaceId, entityId }) : [];
    // Another transaction holds it. Alone, this one can wait for it.
    if (locked !== undefined) tx.runAlone();
    return false;
  }
  if (space?.archived_at !== null) return false;
  tx.send(setActiveSpace, { agentId, spaceId });
  return true;
}

interface Membership {
  readonly spaceId: string;
  readonly entityId: string;
}

function selectMembership(db: Kysely<Tables>, { spaceId, entityId }: Params<Membership>) {
  return db
    .selectFrom('memberships')
    .select('space_id')
    .where('space_id', '=', spaceId)
    .where('entity_id', '=', entityId)
    .where('left_at', 'is', null);
}

const MEMBERSHIP = { spaceId: 'text', entityId: 'text' } as const;

const readMembership = statement((db, membership: Params<Membership>) => selectMembership(db, membership), {
  types: MEMBERSHIP,
});

const shareMembership = statement((db, membership: Params<Membership>, dialect) =>
  forShare(selectMembership(db, membership), dialect),
);

/** The same, without waiting: a membership that another transaction has locked is not found. */
const shareIfFree = statement(
  (db, membership: Params<Membership>) => selectMembership(db, membership).forShare().skipLocked(),
  { types: MEMBERSHIP, key: 'entityId', isRead: true },
);

const readArchivedAt = statement(
  (db, { spaceId }: Params<{ spaceId: string }>) =>
    db.selectFrom('spaces').select('archived_at').where('id', '=', spaceId),
  { types: { spaceId: 'text' } },
);

const setActiveSpace = statement(
  (db, { agentId, spaceId }: Params<{ agentId: string; spaceId: string }>) =>
    db.updateTable('agents').set({ active_space_id: spaceId }).where('id', '=', agentId),
  { types: { agentId: 'text', spaceId: 'text' }, key: 'agentId' },
);
