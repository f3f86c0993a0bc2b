import type { AgentConfig } from '../../config/agent-config.ts';
import type { Offered } from '../../config/known-tool.ts';
import { findAgent } from '../../domain/agents/agent.ts';
import { checkAgentConfig, withChanges } from '../../domain/agents/check-agent-config.ts';
import { ApiError } from '../../domain/api-error.ts';
import { insertConversation } from '../../domain/conversations/conversation.ts';
import { personIn } from '../../domain/conversations/person-in.ts';
import { lastUse } from '../../domain/conversations/sweep-conversations.ts';
import { invalid } from '../../domain/entities/invalid.ts';
import { copyFiles, copyTranscript, sessionBefore } from '../../domain/forks/copy-run.ts';
import { DRAFT_STEP, type DraftDetails } from '../../domain/forks/draft.ts';
import { findDraft } from '../../domain/forks/fork.ts';
import { pushNewEvent } from '../../domain/inbox/push-event.ts';
import { newId } from '../../domain/new-id.ts';
import { getRun, type Run } from '../../domain/runs/run.ts';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { AgentRow } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { assertActive, callerId } from '../chat/start-turn.ts';
import type { TurnCaller } from '../chat/turn-request.ts';
import type { Registry } from '../toolset/registry.ts';
import { assertRoom, definedMachine, type StartedFork } from './start-fork.ts';

export interface DraftRequest {
  readonly caller: TurnCaller;
  readonly agentId: string;
  /** The fields of the configuration that are not saved. Null removes one. */
  readonly changes: DraftDetails['changes'];
  readonly input: DraftInput;
  /** What a configuration may name. Default: not checked until the run. */
  readonly offered?: Offered | undefined;
}

/** A message, or the message of an earlier run of a draft again. */
export type DraftInput =
  | {
      readonly message: string;
      /** A run of a draft whose conversation goes on. Default: a new conversation. */
      readonly after?: string | undefined;
    }
  | { readonly again: string };

/**
 * Talks to an agent with a configuration that is not saved. Each message starts a new conversation with the rules of a fork and a copy of
 * the previous messages. So each conversation has one configuration, earlier answers never change, and nothing acts outside by itself. All
 * problems are thrown as an ApiError before anything is stored.
 */
export async function startDraft(tx: Tx, registry: Registry, request: DraftRequest): Promise<StartedFork> {
  const { caller, changes, input } = request;
  const agent = await findAgent(tx.db, request.agentId);
  assertActive(agent);
  const merged = withChanges(fromJson<AgentConfig>(agent.config), changes);
  const config = await checkAgentConfig(tx, merged, { offered: request.offered, project: agent.project_id });
  if (definedMachine(registry, config) !== undefined)
    throw new ApiError('not_forkable', 'The agent is a machine, and drafts of machines cannot be tried yet.');
  const past = await pastOf(tx, agent, input);
  const now = tx.now();
  const draft = { runId: newId(now), contextId: newId(now) };
  const entityId = await personIn(tx.db, caller, agent);
  await insertConversation(tx, { id: draft.contextId, agentId: agent.id, ownerId: entityId });
  const state = past === undefined ? null : await sessionBefore(tx.db, past.threadId, past.before);
  await tx.db.updateTable('threads').set({ is_fork: 1, state }).where('id', '=', draft.contextId).execute();
  if (past !== undefined) {
    await copyTranscript(tx, { id: past.again?.id ?? draft.contextId, threadId: past.threadId }, { ...draft, ...past });
    await copyFiles(tx, past, draft.contextId);
  }
  await tx.db
    .insertInto('forks')
    .values({
      thread_id: draft.contextId,
      run_id: draft.runId,
      origin_run_id: past?.again?.id ?? '',
      origin_thread_id: past?.threadId ?? '',
      origin_kind: 'context',
      at_step: DRAFT_STEP,
      base_seq: past === undefined ? -1 : past.before - 1,
      number: past?.number ?? 1,
      mode: past?.again?.mode ?? null,
      config_version: agent.config_version,
      config: toJson(config),
      changes: toJson({ draft: detailsOf(changes, input, past) }),
      situation: null,
      as_of: now,
      created_by: callerId(caller),
      created_at: now,
    })
    .execute();
  const event = {
    type: 'chat',
    runId: draft.runId,
    messages:
      'again' in input ? [] : [{ role: 'user' as const, content: [{ type: 'text' as const, text: input.message }] }],
    settings: {},
    // The message that is answered again was copied with its turn.
    ...('again' in input ? { isFork: true as const } : {}),
    ...(entityId === undefined ? {} : { entityId }),
  } as const;
  pushNewEvent(tx, { threadId: draft.contextId, eventId: `chat:${draft.runId}`, event, runId: draft.runId });
  return draft;
}

function detailsOf(changes: DraftDetails['changes'], input: DraftInput, past: Past | undefined): DraftDetails {
  if ('again' in input) return { changes, again: past?.again?.id, after: past?.after };
  return { changes, after: input.after };
}

/** What is copied: the rows of a thread before one of them. */
interface Past {
  readonly threadId: string;
  readonly before: number;
  /** The number of the draft's first run. */
  readonly number: number;
  /** The run that began the turn that is done again. */
  readonly again?: Run;
  /** The run that came before that one. */
  readonly after?: string | undefined;
}

async function pastOf(tx: Tx, agent: AgentRow, input: DraftInput): Promise<Past | undefined> {
  if ('again' in input) return await pastOfTurn(tx, agent, input.again);
  if (input.after === undefined) return undefined;
  const { threadId } = (await draftRun(tx, agent, { field: 'after', runId: input.after })).run;
  if ((await lastUse(tx.db, threadId))?.isBusy === true)
    throw new ApiError(
      'context_in_use',
      'The draft is still at work, or one of its calls waits: answer the call, or cancel the run, then go on.',
    );
  const { last, number } = await tx.db
    .selectFrom('transcript_entries')
    .leftJoin('runs', 'runs.id', 'transcript_entries.run_id')
    .select((eb) => [eb.fn.max('seq').as('last'), eb.fn.max('runs.number').as('number')])
    .where('transcript_entries.thread_id', '=', threadId)
    .executeTakeFirstOrThrow();
  return { threadId, before: Number(last ?? -1) + 1, number: Number(number ?? 0) + 1 };
}

/** The rows up to the message that began the turn of a run, without the reply. */
async function pastOfTurn(tx: Tx, agent: AgentRow, runId: string): Promise<Past> {
  const { run, draft } = await draftRun(tx, agent, { field: 'again', runId });
  const { threadId } = run;
  // A call that waited is answered in a later run of the same turn.
  const first = await getRun(tx.db, draft.runId);
  await assertRoom(tx, first);
  const rows = await tx.db
    .selectFrom('transcript_entries')
    .select(['seq', 'kind'])
    .where('run_id', '=', first.id)
    .orderBy('seq')
    .execute();
  if (rows.length === 0) throw invalid('again', 'must be a run that has begun.');
  const afterMessage = rows.find(({ kind }) => kind !== 'turn' && kind !== 'message')?.seq;
  return {
    threadId,
    before: Number(afterMessage ?? Number(rows.at(-1)?.seq) + 1),
    number: first.number,
    again: first,
    after: draft.changes.draft?.after,
  };
}

async function draftRun(tx: Tx, agent: AgentRow, { field, runId }: { field: string; runId: string }) {
  const run = await getRun(tx.db, runId);
  const draft = await findDraft(tx.db, run.threadId);
  if (draft === undefined || run.agentId !== agent.id)
    throw invalid(field, 'must be a run of a draft of this agent: POST /api/agents/{id}/drafts starts one.');
  return { run, draft };
}
