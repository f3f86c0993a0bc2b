import type { AgentConfig } from '../../config/agent-config.ts';
import { type DefinedMachine, definitionNamed } from '../../config/definitions.ts';
import type { Offered } from '../../config/known-tool.ts';
import { findAgent } from '../../domain/agents/agent.ts';
import { checkAgentConfig } from '../../domain/agents/check-agent-config.ts';
import type { Situation } from '../../domain/agents/describe-agent.ts';
import { ApiError } from '../../domain/api-error.ts';
import { answerCall } from '../../domain/calls/answer-call.ts';
import { insertConversation } from '../../domain/conversations/conversation.ts';
import { personIn } from '../../domain/conversations/person-in.ts';
import type { TurnSettings } from '../../domain/conversations/turn-settings.ts';
import { invalid } from '../../domain/entities/invalid.ts';
import { changeOutcomes, copyFiles, copyTranscript, sessionBefore } from '../../domain/forks/copy-run.ts';
import type { ForkChanges } from '../../domain/forks/fork.ts';
import { parseSituation } from '../../domain/forks/simulated-situation.ts';
import { toldPlace } from '../../domain/inbox/inbox-place.ts';
import { pushNewEvent } from '../../domain/inbox/push-event.ts';
import { newId } from '../../domain/new-id.ts';
import { getRun, type Run } from '../../domain/runs/run.ts';
import { type AskedReply, findReply, readTexts } from '../../domain/runs/step-request.ts';
import { loadRowsBefore, toStoredTranscript } from '../../domain/transcript/load-transcript.ts';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { AgentRow, Json } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { assertActive, callerId } from '../chat/start-turn.ts';
import type { TurnCaller } from '../chat/turn-request.ts';
import { loadSituation } from '../claim/load-situation.ts';
import type { Registry } from '../toolset/registry.ts';
import { assertNoTransitions, copyOpenCalls, type ForkedMachine, machineBefore } from './fork-machine.ts';

export interface ForkRequest {
  readonly caller: TurnCaller;
  readonly runId: string;
  readonly atStep: number;
  readonly changes: ForkChanges;
  /** What a configuration may name. Default: not checked until the run. */
  readonly offered?: Offered | undefined;
}

export interface StartedFork {
  readonly runId: string;
  readonly contextId: string;
}

/** One run may have this many forks, so that a client that repeats its request cannot fill the disk. */
const MOST_FORKS = 1_000;

/**
 * Forks a run: makes a conversation that begins with what the model had read before the step, and starts a run that asks for that step
 * again, with the changes. All problems are thrown as an ApiError before anything is stored. The original is only read.
 */
export async function startFork(tx: Tx, registry: Registry, request: ForkRequest): Promise<StartedFork> {
  const { caller, atStep, changes } = request;
  const run = await getRun(tx.db, request.runId);
  const agent = await findAgent(tx.db, run.agentId);
  assertActive(agent);
  const asked = await askedIn(tx, run, atStep);
  const config = await configOf(tx, { agent, run, request });
  const defined = machineOf(registry, fromJson<AgentConfig>(config), asked);
  const ofConfig = { agent, config: fromJson<AgentConfig>(config), offered: request.offered };
  await checkNodes(tx, { path: 'changes.nodes', nodes: changes.nodes, defined, ...ofConfig });
  await assertRoom(tx, run);
  const state = await sessionBefore(tx.db, run.threadId, asked.seq);
  const machine = defined && (await machineBefore(tx, run, { seq: asked.seq, state, defined }));
  if (machine !== undefined) await assertNoTransitions(tx, run, { before: asked.seq, outcomes: changes.outcomes });
  const originKind = run.threadId === run.agentId ? 'agent' : 'context';
  const now = tx.now();
  const fork = { runId: newId(now), contextId: newId(now) };
  const entityId = await personIn(tx.db, caller, agent);
  await insertConversation(tx, { id: fork.contextId, agentId: agent.id, ownerId: entityId });
  await tx.db.updateTable('threads').set({ is_fork: 1, state }).where('id', '=', fork.contextId).execute();
  await copyTranscript(tx, run, { ...fork, before: asked.seq });
  await copyFiles(tx, run, fork.contextId);
  if (machine !== undefined) await copyOpenCalls(tx, machine, { ...fork, agentId: agent.id });
  await changeOutcomes(tx, run, { contextId: fork.contextId, outcomes: changes.outcomes });
  const situation = originKind === 'agent' ? await situationAt(tx, run, asked) : undefined;
  await tx.db
    .insertInto('forks')
    .values({
      thread_id: fork.contextId,
      run_id: fork.runId,
      origin_run_id: run.id,
      origin_thread_id: run.threadId,
      origin_kind: originKind,
      at_step: atStep,
      base_seq: asked.seq - 1,
      number: run.number,
      mode: run.mode ?? null,
      config_version: run.configVersion,
      config,
      changes: toJson(changes),
      situation: situation === undefined ? null : toJson(situation),
      as_of: await timeBefore(tx, run, asked),
      created_by: callerId(caller),
      created_at: now,
    })
    .execute();
  const { message } = changes;
  const event = {
    type: 'chat',
    runId: fork.runId,
    messages:
      message === undefined ? [] : [{ role: 'user' as const, content: [{ type: 'text' as const, text: message }] }],
    settings: await settingsOf(tx, run, changes),
    isFork: true,
    ...(entityId === undefined ? {} : { entityId }),
  } as const;
  pushNewEvent(tx, { threadId: fork.contextId, eventId: `chat:${fork.runId}`, event, runId: fork.runId });
  if (machine !== undefined) await answerWaits(tx, machine, { fork, caller, outcomes: changes.outcomes });
  return fork;
}

async function askedIn(tx: Tx, run: Run, atStep: number): Promise<AskedReply> {
  const asked = await findReply(tx.db, run, atStep);
  if (asked === undefined)
    throw invalid(
      'atStep',
      `must be a step of the run whose request is stored, not ${atStep}. GET /api/runs/{id}/transcript lists its steps.`,
    );
  return asked;
}

/** The configuration that the original run had, with the changes. */
async function configOf(
  tx: Tx,
  { agent, run, request }: { agent: AgentRow; run: Run; request: ForkRequest },
): Promise<Json> {
  const { instructions, model, settings, tools } = request.changes;
  const version = await tx.db
    .selectFrom('agent_versions')
    .select('config')
    .where('agent_id', '=', agent.id)
    .where('version', '=', run.configVersion)
    .executeTakeFirst();
  const stored = version?.config ?? agent.config;
  if ([instructions, model, settings, tools].every((one) => one === undefined)) return stored;
  const config = fromJson<AgentConfig>(stored);
  const changed = {
    ...config,
    ...(instructions === undefined ? {} : { instructions }),
    ...(model === undefined ? {} : { model }),
    ...(settings === undefined ? {} : { settings: { ...config.settings, ...settings } }),
    ...(tools === undefined ? {} : { tools }),
  };
  return toJson(await checkAgentConfig(tx, changed, { offered: request.offered, project: agent.project_id }));
}

/** The machine of the agent, if the run is one of a machine. */
function machineOf(registry: Registry, config: AgentConfig, { thread }: AskedReply): DefinedMachine | undefined {
  const machine = definedMachine(registry, config);
  if (thread !== undefined && machine === undefined)
    throw cannotFork('It is a run of a machine, and the definition of its agent has no machine now.');
  if (thread === undefined && machine !== undefined)
    throw cannotFork('Its agent is a machine now, and was none in this run.');
  return machine;
}

/** Nodes are code, so only some of what they have can be changed: see `NodeChanges`. */
export async function checkNodes(
  tx: Tx,
  { agent, config, defined, nodes = {}, offered, path: field }: CheckedNodes,
): Promise<void> {
  for (const [name, { model }] of Object.entries(nodes)) {
    const path = `${field}.${name}`;
    if (defined === undefined) throw invalid(path, 'names a node, and the agent is no machine.');
    const { nodeNames } = defined.charter;
    if (!nodeNames.includes(name))
      throw invalid(path, `must be a node of the machine. Its nodes are: ${nodeNames.join(', ')}.`);
    if (model !== undefined) await checkAgentConfig(tx, { ...config, model }, { offered, project: agent.project_id });
  }
}

interface CheckedNodes extends Pick<ForkRequest, 'offered'> {
  readonly agent: AgentRow;
  readonly config: AgentConfig;
  readonly defined: DefinedMachine | undefined;
  readonly nodes: ForkChanges['nodes'];
  /** The field of the request that has them. */
  readonly path: string;
}

/** A call that waited at the step, and whose outcome is changed, is answered with it. */
async function answerWaits(
  tx: Tx,
  { open }: ForkedMachine,
  { fork, caller, outcomes = {} }: { fork: StartedFork; caller: TurnCaller; outcomes: ForkChanges['outcomes'] },
): Promise<void> {
  const by = caller.kind === 'key' ? { key: true as const, ...caller } : caller;
  for (const { callId, newId: renamed, settlement } of open) {
    const answer = outcomes[callId];
    if (settlement === undefined || answer === undefined) continue;
    const answered = { runId: fork.runId, callId: renamed, answer, by, answeringRunId: fork.runId };
    const end = await answerCall(tx, answered);
    if (end.status === 'late') throw end.error;
  }
}

/** The machine that the agent is, by its definition. */
export function definedMachine(
  { definitions = {} }: Registry,
  { definition: name }: AgentConfig,
): DefinedMachine | undefined {
  return name === undefined ? undefined : definitionNamed(name, definitions)?.machine;
}

export async function assertRoom({ db }: Tx, { id }: Pick<Run, 'id'>): Promise<void> {
  const { count } = await db
    .selectFrom('forks')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('origin_run_id', '=', id)
    .executeTakeFirstOrThrow();
  if (Number(count) >= MOST_FORKS)
    throw cannotFork(`It has ${MOST_FORKS} forks already. Delete the conversations of some: DELETE /contexts/{id}.`);
}

function cannotFork(why: string): ApiError {
  return new ApiError('not_forkable', `The run cannot be forked. ${why}`);
}

/** What the agent knew about itself. A request shows no situation if its inbox tells everything: then there is only that space. */
async function situationAt(tx: Tx, run: Run, asked: AskedReply): Promise<Situation> {
  const texts = await readTexts(tx.db, asked.request);
  const shown = parseSituation(texts?.observed ?? '');
  if (shown !== undefined) return shown;
  const now = await loadSituation(tx.db, run.agentId);
  const rows = await loadRowsBefore(tx.db, { threadId: run.threadId, seq: asked.seq });
  const place = toldPlace(toStoredTranscript(rows).entries);
  if (place === undefined) return { ...now, goals: [], memories: [], plans: [] };
  const { spaceId, spaceName: name } = place;
  const known = now.spaces.find((one) => one.spaceId === spaceId);
  return {
    agent: { ...now.agent, name: place.you },
    activeSpaceId: spaceId,
    spaces: [{ ...known, spaceId, name }],
    goals: [],
    memories: [],
    plans: [],
  };
}

/** When the last row before the request was written: the model could know nothing of what came later. */
async function timeBefore({ db }: Tx, { threadId, createdAt }: Run, { seq }: AskedReply): Promise<number> {
  const row = await db
    .selectFrom('transcript_entries')
    .select('created_at')
    .where('thread_id', '=', threadId)
    .where('seq', '<', seq)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.created_at ?? createdAt;
}

/** Those of the original request. The fork is always saved, and followed. */
async function settingsOf(tx: Tx, { id }: Run, { settings }: ForkChanges): Promise<TurnSettings> {
  const row = await tx.db.selectFrom('runs').select('settings').where('id', '=', id).executeTakeFirst();
  const stored = row?.settings == null ? {} : fromJson<TurnSettings>(row.settings);
  const {
    isUnwatched: _unwatched,
    save: _save,
    previousRunId: _previous,
    repeated: _repeated,
    modelSettings,
    ...asked
  } = stored;
  const changed = modelSettings === undefined ? undefined : { ...modelSettings, ...settings };
  return { ...asked, ...(changed === undefined ? {} : { modelSettings: changed }) };
}
