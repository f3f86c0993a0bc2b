import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { ChatEvent, InboxEvent } from '../inbox/inbox-event.ts';
import type { Run, RunTrigger } from './run.ts';

/** An event that woke the agent, with its text, for people who read a list of runs. */
export interface TriggerDetails extends RunTrigger {
  /** Who sent it, answered, or pushed it, by name. */
  readonly by?: string;
  /** The beginning of its text. */
  readonly text?: string;
  readonly spaceId?: string;
  /** The call that was answered. */
  readonly callId?: string;
}

/** Enough for a line. The whole text is in the transcript. */
const MAX_CHARACTERS = 200;

/** Describes the events of the runs, by run, with one query for all of them. */
export async function describeTriggers(
  db: Kysely<Tables>,
  runs: readonly Run[],
): Promise<ReadonlyMap<string, readonly TriggerDetails[]>> {
  const eventIds = runs.flatMap(({ trigger }) => trigger.map(({ eventId }) => eventId));
  const rows =
    eventIds.length === 0
      ? []
      : await db
          .selectFrom('inbox_events')
          .select(['thread_id', 'event_id', 'payload'])
          .where('thread_id', 'in', [...new Set(runs.map(({ threadId }) => threadId))])
          .where('event_id', 'in', [...new Set(eventIds)])
          .execute();
  const events = new Map(rows.map(({ thread_id, event_id, payload }) => [`${thread_id} ${event_id}`, payload]));
  return new Map(
    runs.map(({ id, threadId, trigger }) => [
      id,
      trigger.map((one) => {
        const payload = events.get(`${threadId} ${one.eventId}`);
        return payload === undefined ? one : { ...one, ...describe(fromJson<InboxEvent>(payload)) };
      }),
    ]),
  );
}

function describe(event: InboxEvent): Omit<TriggerDetails, keyof RunTrigger> {
  switch (event.type) {
    case 'space_message':
      return { by: event.from.name, text: cut(event.text), spaceId: event.spaceId };
    case 'tool_result': {
      const by = event.resolvedBy === undefined ? {} : { by: event.resolvedBy.name };
      return { ...by, text: `${event.toolName}: ${event.outcome.status}`, callId: event.callId };
    }
    case 'plan':
      return { by: event.name, text: cut(event.instruction) };
    case 'service':
      return { by: event.source, text: cut(event.name) };
    case 'command':
      return { text: cut(`command ${event.name}`) };
    case 'chat':
      return { text: cut(lastWords(event)) };
  }
}

function lastWords({ messages }: ChatEvent): string {
  const said = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  if (typeof said === 'string') return said;
  return said.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ');
}

function cut(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS).toWellFormed()}…`;
}
