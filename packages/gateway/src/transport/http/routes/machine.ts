import { setTimeout as sleep } from 'node:timers/promises';
import { describeMachine, type Instance, listCommands } from '@lastcall/machines';
import { listNodes } from '@lastcall/machines/internal';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { AgentConfig } from '../../../config/agent-config.ts';
import { findAgent } from '../../../domain/agents/agent.ts';
import { ApiError, notFound } from '../../../domain/api-error.ts';
import { agentOfConversation } from '../../../domain/conversations/conversation.ts';
import { isForkThread } from '../../../domain/forks/fork.ts';
import { type CommandEnd, findCommandState } from '../../../domain/inbox/command-result.ts';
import { findCommand, pushCommand } from '../../../domain/inbox/push-command.ts';
import type { Services } from '../../../ports/services.ts';
import { fromJson } from '../../../ports/store/schema/json.ts';
import type { AgentStatus, Tables } from '../../../ports/store/schema/tables.ts';
import { StoreUnavailable } from '../../../ports/store/store-error.ts';
import { readMachine } from '../../../runtime/chat/read-machine.ts';
import { assertActive } from '../../../runtime/chat/start-turn.ts';
import { definedMachine } from '../../../runtime/forks/start-fork.ts';
import type { Registry } from '../../../runtime/toolset/registry.ts';
import { clientLeft } from '../await-answer.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { idField } from '../fields.ts';

const instanceSchema = z
  .strictObject({
    id: z.string(),
    parentId: z.string().optional(),
    node: z.string(),
    worker: z.boolean(),
    phase: z.string().meta({ description: '`idle`, `ready`, `suspended` or `ceded`.' }),
    state: z.unknown(),
  })
  .meta({ id: 'MachineInstance' });

const commandSchema = z
  .strictObject({
    name: z.string(),
    description: z.string().optional(),
    inputSchema: z.looseObject({}).optional(),
    instanceId: z.string(),
    node: z.string(),
  })
  .meta({ id: 'MachineCommand' });

const waitingSchema = z
  .strictObject({
    callId: z.string(),
    toolName: z.string(),
    kind: z.enum(['result', 'approval', 'input']),
    instanceId: z.string(),
    node: z.string(),
  })
  .meta({ id: 'MachineWait' });

const nodeSchema = z
  .strictObject({
    name: z.string(),
    worker: z.boolean(),
    instructions: z.string().optional().meta({ description: 'Absent if they are code that reads the state.' }),
    model: z.string().optional().meta({ description: 'Its own model, if it has one.' }),
  })
  .meta({ id: 'MachineNode' });

const machineSchema = z
  .strictObject({
    nodes: z.array(nodeSchema).meta({ description: 'The nodes of the charter.' }),
    instances: z.array(instanceSchema).meta({ description: 'The tree, each instance before its children.' }),
    primary: z.string().optional().meta({ description: 'The instance that talks with the user.' }),
    waiting: z.array(waitingSchema).meta({ description: 'Calls that wait for an answer.' }),
    commands: z.array(commandSchema).meta({ description: 'The commands that can be given now.' }),
    diagram: z
      .string()
      .meta({ description: 'The nodes, their transitions and the instances, as a Mermaid flowchart.' }),
  })
  .meta({ id: 'Machine' });

const query = z.strictObject({
  contextId: idField
    .optional()
    .meta({ description: 'The machine of this conversation. Default: that of the agent itself.' }),
});

/** The machine of an agent, and commands to it. */
export function machineEndpoints({
  services,
  registry,
}: {
  services: Services;
  registry: Registry;
}): readonly Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/agents/{id}/machine',
      summary: "Get an agent's machine",
      description: 'The tree of instances, the calls that wait, and the commands that can be given now.',
      access: 'key',
      query,
      answer: machineSchema,
      refusals: [409],
      async handle({ params, query: { contextId } }, tx) {
        const agent = await findAgent(tx.db, params.id);
        const threadId = await threadOf(tx.db, params.id, contextId);
        const machine = await readMachine(tx.db, registry, { agent, threadId });
        const { primary } = machine;
        const defined = definedMachine(registry, fromJson<AgentConfig>(agent.config));
        return {
          nodes: defined === undefined ? [] : listNodes(defined.charter),
          instances: toInstances(machine.tree.root),
          ...(primary === undefined ? {} : { primary: primary.id }),
          waiting: machine.suspended.map(({ callId, toolName, kind, instanceId, node }) => ({
            callId,
            toolName,
            kind,
            instanceId,
            node,
          })),
          commands: listCommands(machine),
          diagram: describeMachine(machine),
        };
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/agents/{id}/machine/commands/{name}',
      summary: "Send a command to an agent's machine",
      description:
        'The command runs once, before the next step of the machine: after a run that is under way. Answers when it has run. A command that fails changes nothing, and is answered with 422. The same `Idempotency-Key` again gets the first answer, and with another command or input 422. An agent that is not active takes no commands: 409.',
      access: 'key',
      query,
      body: z.strictObject({
        input: z.unknown().optional(),
        instanceId: idField.optional().meta({ description: 'Default: the nearest instance with such a command.' }),
        idempotencyKey: z
          .string()
          .min(1)
          .max(180)
          .optional()
          .meta({ description: 'The same as the header `Idempotency-Key`.' }),
      }),
      answer: z.strictObject({ name: z.string(), output: z.unknown(), duplicate: z.boolean() }),
      refusals: [409, 429],
      async handle({ params, query: { contextId }, body, headers }, tx) {
        const agent = await findAgent(tx.db, params.id);
        const threadId = await threadOf(tx.db, params.id, contextId);
        const { name } = params;
        const { input = {}, instanceId } = body;
        const idempotencyKey = body.idempotencyKey ?? headers.get('idempotency-key') ?? undefined;
        // Found first: a command that has run may have led to a node that does not have it.
        const known = await findCommand(tx, { threadId, name, input, instanceId, idempotencyKey });
        if (known !== undefined) return { eventId: known, duplicate: true, threadId, name };
        assertActive(agent);
        if (await isForkThread(tx.db, threadId)) throw new ApiError('command_failed', OF_FORK);
        const commands = listCommands(await readMachine(tx.db, registry, { agent, threadId }));
        if (instanceId === undefined && !commands.some((one) => one.name === name))
          throw unknownCommand(
            name,
            commands.map((one) => one.name),
          );
        const command = { agentId: params.id, threadId, name, input, instanceId, idempotencyKey };
        return { ...(await pushCommand(tx, command)), threadId, name };
      },
      async respond({ eventId, duplicate, threadId, name }, { json, request: { signal } }) {
        const end = await awaitEnd(services, { threadId, eventId }, signal);
        if (end === undefined) return clientLeft();
        if (end.error !== undefined) throw new ApiError('command_failed', end.error);
        return json({ name, output: end.output, duplicate });
      },
    }),
  ];
}

async function threadOf(db: Kysely<Tables>, agentId: string, contextId: string | undefined): Promise<string> {
  if (contextId === undefined) return agentId;
  if ((await agentOfConversation(db, contextId)) !== agentId) throw notFound('conversation', contextId);
  return contextId;
}

function toInstances(root: Instance, parentId?: string): readonly object[] {
  const { id, node, worker, phase, state, children } = root;
  const parent = parentId === undefined ? {} : { parentId };
  return [
    { id, ...parent, node, worker, phase: phase.kind, state },
    ...children.flatMap((child) => toInstances(child, id)),
  ];
}

function unknownCommand(name: string, known: readonly string[]): ApiError {
  const list = known.length === 0 ? 'The machine takes no command now.' : `Commands now: ${known.join(', ')}.`;
  return new ApiError('command_failed', `The machine has no command "${name}" now. ${list}`);
}

const OF_FORK =
  'This conversation is a fork, which takes no commands: a command may act outside, and no one can be asked before.';

const POLL_MS = 50;

/**
 * Waits until the command has run. A run that is under way comes first, so this may take as long as that run. Returns undefined if the
 * client disconnected: the command runs all the same. If the store is unavailable, it is read again later, because the command is stored.
 */
async function awaitEnd(
  { store }: Services,
  command: { readonly threadId: string; readonly eventId: string },
  left: AbortSignal,
): Promise<CommandEnd | undefined> {
  while (!left.aborted) {
    const state = await findCommandState(store.db, command).catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
    });
    if (state?.status === 'ended') return state.end;
    if (state?.status === 'waiting' && state.agent !== 'active') throw waitsLonger(state.agent);
    await sleep(POLL_MS);
  }
  return undefined;
}

/** The agent was paused, or became invalid, before the command ran. No one knows when it will run. */
function waitsLonger(status: AgentStatus): ApiError {
  const message = `The agent is ${status}. The command is stored, and runs when the agent is resumed: ask again with the same idempotency key.`;
  return new ApiError('agent_not_active', message, { details: { status, inDoubt: true } });
}
