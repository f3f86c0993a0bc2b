import type { InboxEvent } from '../../domain/inbox/inbox-event.ts';
import { currentFailures, keepFailure } from '../../domain/spaces/agent-failure.ts';
import { spaceStream } from '../../domain/streams/stream-names.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { EndingRun } from '../run/active-run.ts';

export interface FailedAttempt {
  readonly text: string;
  /** The attempt number (1, 2, 3 …) of the event that was tried most often. */
  readonly attempt: number;
  /** The time of the next attempt. Undefined if there is none. */
  readonly retryAt: number | undefined;
  readonly events: readonly InboxEvent[];
  /** The space in which the agent was announced as active. */
  readonly announcedSpaceId: string | null;
}

/**
 * Shows the people who wait for the agent that it failed, and whether it will try again. People who open the space
 * later see it too.
 */
export async function announceFailure(tx: Tx, run: EndingRun, failed: FailedAttempt): Promise<void> {
  const { attempt, retryAt } = failed;
  const text = `${failed.text} ${retryAt === undefined ? 'It does not try again by itself.' : 'It tries again.'}`;
  const when = retryAt === undefined ? {} : { retryAt };
  const told = { runId: run.runId, entityId: run.agent.entityId, text };
  for (const spaceId of [...(await concernedSpaces(tx, run, failed))].sort()) {
    await keepFailure(tx, { ...told, spaceId, retryAt });
    tx.emit({
      stream: spaceStream(spaceId),
      type: 'agent.failed',
      payload: { ...told, attempt, ...when },
    });
  }
}

interface HeldEvents {
  readonly text: string;
  /** When the agent continues. */
  readonly until: number;
  readonly events: readonly InboxEvent[];
}

/** Shows the people who wait for the agent that it continues later. Each space is told once. */
export async function announceHeld(
  tx: Tx,
  { runId, agent }: ToldRun,
  { text, until: retryAt, events }: HeldEvents,
): Promise<void> {
  const { entityId } = agent;
  for (const spaceId of [...(await concernedSpaces(tx, { agent }, { events, announcedSpaceId: null }))].sort()) {
    if ((await currentFailures(tx.db, spaceId)).get(entityId)?.text === text) continue;
    await keepFailure(tx, { runId, entityId, text, spaceId, retryAt });
    tx.emit({
      stream: spaceStream(spaceId),
      type: 'agent.failed',
      payload: { runId, entityId, text, attempt: 1, retryAt },
    });
  }
}

interface ToldRun {
  readonly runId: string;
  readonly agent: Pick<EndingRun['agent'], 'entityId'>;
}

/**
 * The spaces where the agent was announced as active, and those that its events came from, if the agent is a member.
 */
async function concernedSpaces(
  tx: Tx,
  { agent }: Pick<ToldRun, 'agent'>,
  { events, announcedSpaceId }: Pick<FailedAttempt, 'events' | 'announcedSpaceId'>,
): Promise<Set<string>> {
  const asked = events.flatMap((event) => (event.type === 'space_message' ? [event.spaceId] : []));
  const callIds = events.flatMap((event) => (event.type === 'tool_result' ? [event.callId] : []));
  const from = [...new Set([...asked, ...(await spacesOfCalls(tx, callIds))])];
  const concerned = new Set(await joinedSpaces(tx, agent.entityId, from));
  if (announcedSpaceId !== null) concerned.add(announcedSpaceId);
  return concerned;
}

async function spacesOfCalls(tx: Tx, callIds: readonly string[]): Promise<string[]> {
  if (callIds.length === 0) return [];
  const calls = tx.db.selectFrom('calls').select('space_id').where('id', 'in', callIds);
  return (await calls.execute()).flatMap(({ space_id }) => space_id ?? []);
}

async function joinedSpaces(tx: Tx, entityId: string, spaceIds: readonly string[]): Promise<string[]> {
  if (spaceIds.length === 0) return [];
  const memberships = tx.db
    .selectFrom('memberships')
    .select('space_id')
    .where('entity_id', '=', entityId)
    .where('space_id', 'in', spaceIds)
    .where('left_at', 'is', null);
  return (await memberships.execute()).map(({ space_id }) => space_id);
}
