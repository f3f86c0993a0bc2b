import type { AgentConfig } from '../../config/agent-config.ts';
import type { Offered } from '../../config/known-tool.ts';
import { findAgent } from '../../domain/agents/agent.ts';
import { checkAgentConfig, withChanges } from '../../domain/agents/check-agent-config.ts';
import type { Situation } from '../../domain/agents/describe-agent.ts';
import { ApiError } from '../../domain/api-error.ts';
import { insertConversation } from '../../domain/conversations/conversation.ts';
import { personIn } from '../../domain/conversations/person-in.ts';
import { lastUse } from '../../domain/conversations/sweep-conversations.ts';
import { invalid } from '../../domain/entities/invalid.ts';
import { copyFiles, copyTranscript, sessionBefore } from '../../domain/forks/copy-run.ts';
import { DRAFT_STEP, type DraftDetails } from '../../domain/forks/draft.ts';
import { type ForkChanges, findDraft } from '../../domain/forks/fork.ts';
import { ownEnds } from '../../domain/forks/recorded-calls.ts';
import { afterCalls } from '../../domain/forks/simulated-situation.ts';
import { pushNewEvent } from '../../domain/inbox/push-event.ts';
import { newId } from '../../domain/new-id.ts';
import { getRun, type Run } from '../../domain/runs/run.ts';
import { INPUT, type MachineInput } from '../../domain/transcript/machine-rows.ts';
import type { EntryRecord } from '../../domain/transcript/transcript-row.ts';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { AgentRow } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { assertActive, callerId } from '../chat/start-turn.ts';
import type { TurnCaller } from '../chat/turn-request.ts';
import { loadSituation } from '../claim/load-situation.ts';
import type { Registry } from '../toolset/registry.ts';
import { copyOpenCalls, machineBefore } from './fork-machine.ts';
import { assertRoom, checkNodes, definedMachine, type StartedFork } from './start-fork.ts';

export interface DraftRequest {
  readonly caller: TurnCaller;
  readonly agentId: string;
  /** The fields of the configuration that are not saved. Null removes one. */
  readonly changes: DraftDetails['changes'];
  readonly input: DraftInput;
  /** Of a machine: what is different in its nodes, by their names. */
  readonly nodes?: ForkChanges['nodes'];
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
  const { caller, changes, input, nodes, offered } = request;
  const agent = await findAgent(tx.db, request.agentId);
  assertActive(agent);
  const merged = withChanges(fromJson<AgentConfig>(agent.config), changes);
  const config = await checkAgentConfig(tx, merged, { offered, project: agent.project_id });
  const defined = definedMachine(registry, config);
  await checkNodes(tx, { path: 'nodes', nodes, agent, config, defined, offered });
  const past = await pastOf(tx, agent, input);
  if (past !== undefined && past.isMachine !== (defined !== undefined)) throw otherKind(past);
  const now = tx.now();
  const draft = { runId: newId(now), contextId: newId(now) };
  const entityId = await personIn(tx.db, caller, agent);
  await insertConversation(tx, { id: draft.contextId, agentId: agent.id, ownerId: entityId });
  const state = past === undefined ? null : await sessionBefore(tx.db, past.threadId, past.before);
  const machine =
    past === undefined || defined === undefined
      ? undefined
      : await machineBefore(tx, past, { seq: past.before, state, defined });
  await tx.db.updateTable('threads').set({ is_fork: 1, state }).where('id', '=', draft.contextId).execute();
  if (past !== undefined) {
    await copyTranscript(tx, { id: past.again?.id ?? draft.contextId, threadId: past.threadId }, { ...draft, ...past });
    await copyFiles(tx, past, draft.contextId);
    if (machine !== undefined) await copyOpenCalls(tx, machine, { ...draft, agentId: agent.id });
  }
  const situation = await situationOf(tx, agent, past);
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
      changes: toJson({ ...(nodes === undefined ? {} : { nodes }), draft: detailsOf(changes, input, past) }),
      situation: situation === undefined ? null : toJson(situation),
      as_of: now,
      created_by: callerId(caller),
      created_at: now,
    })
    .execute();
  const event = {
    type: 'chat',
    runId: draft.runId,
    messages:
      'again' in input
        ? (past?.messages ?? [])
        : [{ role: 'user' as const, content: [{ type: 'text' as const, text: input.message }] }],
    settings: {},
    // The message that is answered again was copied with its turn, unless it is one to a machine.
    ...('again' in input && past?.messages === undefined ? { isFork: true as const } : {}),
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
  /** True if the rows are those of a machine. */
  readonly isMachine: boolean;
  /** The input of a machine that is asked again. Its rows begin with this input, so it gets the input once more. */
  readonly messages?: MachineInput['messages'];
  /** What the agent knew about itself before the message. Undefined if it was in no space. */
  readonly situation: Situation | undefined;
}

/**
 * An agent with spaces is tried as it is in them: with its built-in tools, whose writes are only simulated. The others are tried as in a
 * chat. A conversation goes on with what its own calls have changed.
 */
async function situationOf(
  tx: Tx,
  { id, active_space_id }: AgentRow,
  past: Past | undefined,
): Promise<Situation | undefined> {
  if (past !== undefined) return past.situation;
  const now = await loadSituation(tx.db, id);
  const [first] = now.spaces;
  return first === undefined ? undefined : { ...now, activeSpaceId: active_space_id ?? first.spaceId };
}

function otherKind({ isMachine }: Past): ApiError {
  const [was, is] = isMachine ? ['was a machine', 'is none'] : ['was no machine', 'is one'];
  return new ApiError(
    'not_forkable',
    `The conversation cannot go on: the agent ${was} in it, and ${is} with these changes. Start a new one.`,
  );
}

async function pastOf(tx: Tx, agent: AgentRow, input: DraftInput): Promise<Past | undefined> {
  if ('again' in input) return await pastOfTurn(tx, agent, input.again);
  if (input.after === undefined) return undefined;
  const { run, draft } = await draftRun(tx, agent, { field: 'after', runId: input.after });
  const { threadId } = run;
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
  const ends = draft.situation === undefined ? [] : await ownEnds(tx.db, draft);
  return {
    threadId,
    before: Number(last ?? -1) + 1,
    number: Number(number ?? 0) + 1,
    isMachine: await hasMachine(tx, threadId),
    situation:
      draft.situation &&
      afterCalls(
        draft.situation,
        ends.map(({ settlement }) => settlement),
      ),
  };
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
    .select(['seq', 'kind', 'payload'])
    .where('run_id', '=', first.id)
    .orderBy('seq')
    .execute();
  if (rows.length === 0) throw invalid('again', 'must be a run that has begun.');
  const turn = { threadId, number: first.number, again: first, after: draft.changes.draft?.after };
  const { situation } = draft;
  const input = rows.find(({ kind }) => kind === INPUT);
  if (input !== undefined) {
    const { messages } = fromJson<EntryRecord>(input.payload).entry as unknown as MachineInput;
    return { ...turn, before: Number(input.seq), isMachine: true, messages, situation };
  }
  const afterMessage = rows.find(({ kind }) => kind !== 'turn' && kind !== 'message')?.seq;
  return { ...turn, before: Number(afterMessage ?? Number(rows.at(-1)?.seq) + 1), isMachine: false, situation };
}

async function hasMachine({ db }: Tx, threadId: string): Promise<boolean> {
  const inputs = db.selectFrom('transcript_entries').select('seq').where('thread_id', '=', threadId);
  return (await inputs.where('kind', '=', INPUT).limit(1).executeTakeFirst()) !== undefined;
}

async function draftRun(tx: Tx, agent: AgentRow, { field, runId }: { field: string; runId: string }) {
  const run = await getRun(tx.db, runId);
  const draft = await findDraft(tx.db, run.threadId);
  if (draft === undefined || run.agentId !== agent.id)
    throw invalid(field, 'must be a run of a draft of this agent: POST /api/agents/{id}/drafts starts one.');
  return { run, draft };
}
