import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { AgentStatus, Tables } from '../../ports/store/schema/tables.ts';
import { COMMAND_RESULT, type CommandResult, endOfCommand } from '../transcript/machine-rows.ts';

export type CommandEnd = Pick<CommandResult, 'output' | 'error'>;

/** Where a command is. */
export type CommandState =
  | { readonly status: 'ended'; readonly end: CommandEnd }
  /** `agent` is the status of its agent: an agent that is not active takes no events. */
  | { readonly status: 'waiting'; readonly agent: AgentStatus };

/** How a command ended, or why it never ran. */
export async function findCommandState(
  db: Kysely<Tables>,
  { threadId, eventId }: { readonly threadId: string; readonly eventId: string },
): Promise<CommandState> {
  const event = await db
    .selectFrom('inbox_events')
    .innerJoin('threads', 'threads.id', 'inbox_events.thread_id')
    .innerJoin('agents', 'agents.id', 'threads.agent_id')
    .select(['inbox_events.status', 'inbox_events.run_id', 'agents.status as agent'])
    .where('inbox_events.thread_id', '=', threadId)
    .where('inbox_events.event_id', '=', eventId)
    .executeTakeFirst();
  if (event === undefined) return ended({ error: `${NOT_RUN}: it was deleted with its agent or its conversation.` });
  const { status, run_id: runId, agent } = event;
  const isOver = status === 'done' || status === 'dead';
  const ends = runId === null ? NONE : await endedCommands(db, runId, { kinds: isOver ? ALL : [COMMAND_RESULT] });
  const end = ends.get(eventId);
  if (end !== undefined) return ended(end);
  if (status === 'dead') return ended({ error: `${NOT_RUN}: the run that took it failed, or its agent was deleted.` });
  if (status === 'done')
    return ended({ error: `${NOT_RUN}: the run that took it was cancelled, or its agent is no machine any more.` });
  return { status: 'waiting', agent: status === 'claimed' ? 'active' : agent };
}

/** The commands that have ended in a run, by the ids of their events. */
export async function endedCommands(
  db: Kysely<Tables>,
  runId: string,
  { kinds = ALL }: { readonly kinds?: readonly string[] } = {},
): Promise<ReadonlyMap<string, CommandEnd>> {
  const rows = await db
    .selectFrom('transcript_entries')
    .select('payload')
    .where('run_id', '=', runId)
    .where('kind', 'in', kinds)
    .orderBy('seq')
    .execute();
  const ends = rows.flatMap(({ payload }) => {
    const end = endOfCommand(fromJson<{ readonly entry: object }>(payload).entry);
    return end === undefined ? [] : [[end.key, end] as const];
  });
  return new Map(ends);
}

// The record of a command that succeeded is stored before its result, and has the output too.
const ALL: readonly string[] = [COMMAND_RESULT, 'machine'];
const NONE: ReadonlyMap<string, CommandEnd> = new Map();

const NOT_RUN = 'The command did not run';

function ended(end: CommandEnd): CommandState {
  return { status: 'ended', end };
}
