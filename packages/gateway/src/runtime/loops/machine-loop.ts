import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Entry, Stop } from '@lastcall/core';
import {
  type Machine,
  MachineError,
  type MachineMessage,
  type MachineStep,
  RunFailed,
  runMachine,
} from '@lastcall/machines';
import { otherInstructions } from '@lastcall/machines/internal';
import { cancelledCalls } from '../../domain/calls/cancelled-calls.ts';
import { isWrittenByPerson } from '../../domain/inbox/inbox-place.ts';
import { newId } from '../../domain/new-id.ts';
import { toRecord } from '../../domain/transcript/load-transcript.ts';
import {
  COMMAND_RESULT,
  type CommandResult,
  endOfCommand,
  type GivenCommand,
  INPUT,
  isMachineRecord,
  type MachineInput,
} from '../../domain/transcript/machine-rows.ts';
import { asJson } from '../../ports/store/schema/json.ts';
import type { RunActivity } from '../../telemetry/run-activity.ts';
import { withoutApproval } from '../forks/fork-tools.ts';
import { asApproval } from '../forks/given-outcomes.ts';
import { compactMachine, isMachineOverBudget } from '../journal/compact-machine.ts';
import { findOpenCards } from '../journal/recover-calls.ts';
import type { ActiveRun } from '../run/active-run.ts';
import { endingTools } from '../run/ending-tools.ts';
import { keepMachine, nextMachine } from '../run/restore-machine.ts';
import { newCallIds } from './calls-of-run.ts';
import { grantPolicy } from './grant-policy.ts';
import { LeafGuards } from './leaf-guards.ts';
import { MachineUsed } from './machine-used.ts';
import { type OpenedRun, saidAtEnd } from './open-run.ts';
import type { PreparedRun } from './prepared-run.ts';
import { readyFor } from './ready-for.ts';
import { middlewareOf } from './run-middleware.ts';
import { instanceSession } from './session-host.ts';
import { tellRun } from './tell-run.ts';
import { voidChangedApprovals } from './void-changed-approvals.ts';

/*
 * A run of an agent that is a machine:
 *
 *     rows of the thread ──machineFromRecords──▶ machine
 *     input of the run (messages, answers) ─────▶ machine, unless its rows show that it has it
 *     runMachine, step by step ──▶ the run's journal: entries of each instance, and changes of the tree, as rows
 *     the machine rests, waits or has used its limits ──▶ the run ends
 *
 * Everything around it (claim, lease, fence, inbox, cards, streams) is the same as for a turn.
 */

/** Prepares a run of a machine. */
export async function prepareMachine(open: OpenedRun, activity: RunActivity): Promise<PreparedRun> {
  const { services, registry, run, abort, clock, tools, situation, requests, journal, leafTools, forkTools, end } =
    open;
  const { machine: defined, ...definition } = run.agent.setup.definition ?? { machine: undefined, policies: [] };
  const { kind } = run;
  const { limits } = run.agent;
  if (defined === undefined || leafTools === undefined) throw new Error('The agent is not a machine.');
  await journal.recover(await findOpenCards(services, run));
  const next = nextMachine(defined, run, () => instanceSession(open));
  const { machine } = next;
  const deadline = clock.now() + limits.cycleTimeoutMs;
  const { explanation, observe, instructions, batch, modelSettings, maxSteps } = kind.turnOptions(
    run,
    situation,
    endingTools(run.agent.config, tools.tools),
  );
  const model = await kind.modelOf(run, (name) => registry.model(name));
  await tools.ready?.(readyFor(open));
  const ended = await endsOfCancelled(services, machine);
  const { commands, messages } = give(machine, run, { ...ended, ...(await voidChangedApprovals(open)) });
  const { sent } = next;
  const guards = new LeafGuards(
    { tag: run.agent.tag, explanation, observe: observe ?? (() => ({})), sent, requests },
    model,
  );
  const used = new MachineUsed(run);
  const nodes = run.fork?.changes.nodes ?? {};
  end.of = (stop) => ({
    usage: used.total,
    ...saidAtEnd(run, used.spoken, stop),
    ...(isUnanswered(run, used, stop) ? { reply: { text: waitNotice(machine), messageId: newId() } } : {}),
    isOverBudget: isMachineOverBudget(run, {
      charactersWritten: journal.charactersWritten,
      largestTokens: guards.largestTokens(used),
    }),
  });
  const tell = tellRun(open, activity);
  const steps = runMachine(machine, {
    model: ({ model: name }) => (name === undefined ? model : namedModel(name, registry)),
    wrapModel: (own, leaf) => {
      const name = nodes[leaf.node]?.model;
      const found = name === undefined ? (own as LanguageModelV4) : namedModel(name, registry);
      return guards.of(leaf).wrap(open.spend.forTurnsInCalls(found));
    },
    tools: (own) => leafTools.offer(forkTools === undefined ? own : forkTools.wrap(own), tools.tools),
    instructions: (own, leaf) => {
      const text = nodes[leaf.node]?.instructions;
      const ofNode = text === undefined ? own : otherInstructions(machine, leaf.instanceId, text);
      return guards.of(leaf).instructed(ofNode, instructions);
    },
    ...(observe === undefined ? {} : { observe: requests.observing(guards.observe) }),
    ...(messages.length === 0 ? {} : { input: messages }),
    journal: used.noting(journal, open.ended),
    onEvent(event) {
      const told = { ...event, isOfWorker: machine.instance(event.instanceId)?.worker };
      tell(told);
    },
    ...(batch === undefined ? {} : { batch }),
    ...(modelSettings === undefined ? {} : { modelSettings }),
    ...(maxSteps === undefined ? {} : { maxSteps }),
    // In a fork, only a person can let a call act outside.
    policies:
      run.fork === undefined ? [...definition.policies, grantPolicy(open)] : definition.policies.map(withoutApproval),
    middleware: middlewareOf(open, model),
    clock,
    deadline,
    budget: { tokens: limits.tokensPerCycle },
    signal: abort.signal,
    unusedAnswers: 'end',
    newId: newCallIds(run),
    logger: services.logger,
  });
  return {
    model: guards.first,
    async perform() {
      await runCommands(machine, commands, open);
      const stop = await runAll(steps, open);
      await journal.append([{ kind: 'stop', stop }]);
    },
    compact: (nextSeq) =>
      compactMachine(services, run, {
        machine,
        nextSeq,
        model: open.spend.wrap(guards.first, 'summary'),
        signal: abort.signal,
      }),
    // What a failed run wrote is read again by the next run, which compacts when it ends.
    compactStored: async () => false,
    keep: (rows) => keepMachine(defined, next, { from: run.rows.length, rows }),
    dispose: () => machine.dispose(),
  };
}

/**
 * What the run starts with, unless the machine has it: answers are given to it here. The first write of a run to its journal contains all of
 * it, so any row after the input means that the machine has it.
 */
function give(machine: Machine, { rows, fork }: ActiveRun, answers: ActiveRun['answers']): Given {
  const at = rows.findLastIndex(({ kind }) => kind === INPUT);
  const row = rows[at];
  if (row === undefined) return { commands: [], messages: [] };
  const records = rows.slice(at + 1).map(toRecord);
  const input = toRecord(row).entry as unknown as MachineInput;
  const commands = (input.commands ?? []).filter(
    ({ key }) => !records.some(({ entry }) => endOfCommand(entry)?.key === key),
  );
  if (records.some(isMachineRecord)) return { commands, messages: [] };
  // A call may have ended without its answer: then the answer is late, and no call waits for it.
  for (const [callId, answer] of Object.entries({ ...input.answers, ...answers }))
    machine.answer(callId, fork === undefined ? answer : asApproval(machine, callId, answer));
  const messages = input.messages as readonly MachineMessage[];
  if (commands.length === 0) return { commands, messages };
  // The first command is the first write.
  for (const message of messages) machine.enqueue(message);
  return { commands, messages: [] };
}

/**
 * A call that was cancelled while an instance waited for it, e.g. because its input was erased, ends with the next run. Otherwise the instance
 * would wait for ever.
 */
async function endsOfCancelled(
  { store }: Pick<OpenedRun['services'], 'store'>,
  { suspended }: Machine,
): Promise<ActiveRun['answers']> {
  const kinds = new Map(suspended.map(({ callId, kind }) => [callId, kind]));
  const cancelled = await cancelledCalls(store.db, [...kinds.keys()]);
  return Object.fromEntries(
    cancelled.map((callId) => [callId, kinds.get(callId) === 'approval' ? { deny: CANCELLED } : { error: CANCELLED }]),
  );
}

const CANCELLED = 'The call was cancelled before anyone answered.';

interface Given {
  readonly commands: readonly GivenCommand[];
  /** For the first write of the steps. */
  readonly messages: readonly MachineMessage[];
}

/** Runs the commands of the inbox, one after the other, before the first step. One that fails changes nothing. */
async function runCommands(
  machine: Machine,
  commands: readonly GivenCommand[],
  { journal, abort }: OpenedRun,
): Promise<void> {
  for (const { key, name, input, instanceId } of commands) {
    const result: CommandResult = { kind: COMMAND_RESULT, key, name };
    const options = {
      journal,
      idempotencyKey: key,
      signal: abort.signal,
      ...(instanceId === undefined ? {} : { instanceId }),
    };
    try {
      const output = await machine.command(name, input, options);
      await journal.append([{ ...result, output: asJson(output) ?? null } as unknown as Entry]);
    } catch (error) {
      if (!(error instanceof MachineError)) throw error;
      await journal.append([{ ...result, error: error.message } as unknown as Entry]);
    }
  }
}

/** Runs all steps, and says why the run ended. */
async function runAll(steps: AsyncIterable<MachineStep>, { abort, run }: OpenedRun): Promise<Stop> {
  let last: MachineStep | undefined;
  let spoken: Stop | undefined;
  for await (const step of steps) {
    last = step;
    spoken = step.leaves.find(({ worker }) => !worker)?.stop ?? spoken;
  }
  if (abort.isCancelled()) return { reason: 'aborted' };
  if (abort.signal.aborted) throw abort.signal.reason;
  switch (last?.yieldReason) {
    case 'error': {
      const limit = limitOf(last);
      if (limit !== undefined) return limit;
      throw last.error ?? new Error(`A step of the machine of agent ${run.agent.id} failed.`);
    }
    case 'awaiting_resume':
      return { reason: 'suspended' };
    case 'max_steps':
      return { reason: 'max_steps' };
    default:
      return spoken?.reason === 'end_turn' ? spoken : { reason: 'end_turn', by: 'text' };
  }
}

/** True if a person wrote and the primary was not asked, because it, or a worker that it waits for, waits for an answer. */
function isUnanswered({ kind, rows }: ActiveRun, { spoken }: MachineUsed, { reason }: Stop): boolean {
  if (!kind.hasSpaces || reason !== 'suspended' || spoken.some((entry) => entry.kind === 'reply')) return false;
  const row = rows.findLast((one) => one.kind === INPUT);
  return row !== undefined && (toRecord(row).entry as unknown as MachineInput).messages.some(isWrittenByPerson);
}

/** What the people who wrote read in the meantime. The model reads their messages when it is asked again. */
function waitNotice({ suspended }: Machine): string {
  const names = [...new Set(suspended.map(({ toolName }) => toolName.replace(/^transition_/, '')))];
  const shown = names.slice(0, MOST_NAMES).join(', ');
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  return `I have your message. I go on when these are answered: ${shown}${more}.`;
}

const MOST_NAMES = 5;

/** The limit that ended the run, if one did: as in a turn, the run is complete. Undefined if a step failed. */
function limitOf({ error, leaves }: MachineStep): Stop | undefined {
  // Its cause is an error that was thrown.
  if (error !== undefined && !(error instanceof RunFailed && error.cause === undefined)) return undefined;
  const stop = leaves.find(({ yieldReason }) => yieldReason === 'error')?.stop ?? ({ reason: 'deadline' } as const);
  return stop.reason === 'error' || stop.reason === 'aborted' ? undefined : stop;
}

/** The model that a node names. It is found when it is first asked, because finding it may take a while. */
function namedModel(name: string, { model: find }: OpenedRun['registry']): LanguageModelV4 {
  const found = find(name);
  if (!(found instanceof Promise)) return found;
  // A failure is reported by the request.
  found.catch(() => {});
  return {
    specificationVersion: 'v4',
    provider: name.split('/', 1)[0] ?? name,
    modelId: name,
    supportedUrls: {},
    doGenerate: async (options) => await (await found).doGenerate(options),
    doStream: async (options) => await (await found).doStream(options),
  };
}
