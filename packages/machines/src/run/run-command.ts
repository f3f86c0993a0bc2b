import { type AnyTool, createSession, dispatchCall, type Settlement, tool } from '@lastcall/core';
import { assertKnownOptions } from '@lastcall/core/internal';
import type { AnyCommand } from '../charter/any-command.ts';
import { toPlainOrNull } from '../charter/plain.ts';
import { isTransition } from '../charter/transition.ts';
import { unknownCommand } from '../charter/unknown-name.ts';
import { MachineError } from '../errors.ts';
import type { NotedEntry } from '../tree/machine-record.ts';
import { chainOf, type Instance } from '../tree/tree.ts';
import type { TreeEvent } from '../tree/tree-event.ts';
import { base, viewSlice } from '../tree/view.ts';
import { claimFor, viewFor } from './actor.ts';
import { bindTool } from './bind-tool.ts';
import { COMMAND_OPTIONS, type CommandOptions } from './command-options.ts';
import { open } from './machine-context.ts';
import type { MachineState } from './machine-state.ts';
import { cancelOutdatedWaits } from './outdated-waits.ts';
import { assertCertain, Recorder } from './recorder.ts';
import { decide } from './transition-tool.ts';

// Each command claims its writes in the ledger under a unique name.
let started = 0;

/**
 * Runs commands one after another, in parallel with a step. A command that changes the tree waits for the step to end.
 */
export async function runCommand(
  machine: MachineState,
  name: string,
  input: unknown,
  options: CommandOptions,
): Promise<unknown> {
  assertKnownOptions(options, COMMAND_OPTIONS);
  const leave = await machine.commands.enter();
  try {
    assertCertain(machine);
    return await perform(machine, name, input, options);
  } finally {
    leave();
  }
}

async function perform(machine: MachineState, name: string, input: unknown, options: CommandOptions): Promise<unknown> {
  const { instance, command } = find(machine, name, options.instanceId);
  const by = `command ${++started}`;
  try {
    const { settlement, events } = await dispatch(machine, { instance, command, name, by }, input, options);
    const { outcome } = settlement;
    if (outcome.status === 'pending')
      throw new MachineError(
        'command',
        `Command "${name}" returned pending(), and a command cannot wait: return its result.`,
      );
    if (outcome.status !== 'ok')
      throw new MachineError(
        'command',
        `Command "${name}": ${outcome.status === 'error' ? outcome.message : outcome.text}`,
      );
    const { id: instanceId, node } = instance;
    const { idempotencyKey } = options;
    const noted: NotedEntry = {
      kind: 'command',
      instanceId,
      node,
      name,
      input: toPlainOrNull(settlement.input),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey, output: toPlainOrNull(outcome.value) }),
    };
    await commit(machine, { events, by, noted }, options);
    return outcome.value;
  } finally {
    machine.ledger.release(by);
  }
}

interface Called {
  readonly instance: Instance;
  readonly command: AnyCommand;
  readonly name: string;
  readonly by: string;
}

/** Runs the command through core's pipeline, which checks the input and discards what a failed command wrote. */
async function dispatch(
  machine: MachineState,
  { instance, command, name, by }: Called,
  input: unknown,
  { signal, clock, idempotencyKey }: CommandOptions,
): Promise<{ settlement: Settlement; events: readonly TreeEvent[] }> {
  const session = createSession({ slices: [viewSlice] });
  const view = viewFor(machine, instance);
  const began = machine.ledger.now;
  open(view.actor, {
    charter: machine.charter,
    tree: () => machine.tree,
    claim: (events) => claimFor(machine, by, began, events),
    suspended: false,
    canSuspend: false,
  });
  base(session, view);
  const made = toTool(command, name, machine.charter.node(instance.node).path);
  // Errors about the input name the command, if its name is valid for a tool.
  const toolName = /^(?!__proto__$)[\w-]{1,64}$/.test(name) ? name : 'command';
  const settlement = await dispatchCall({
    tools: { [toolName]: made },
    call: { toolName, input, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) },
    session,
    ...(signal === undefined ? {} : { signal }),
    ...(clock === undefined ? {} : { clock }),
  });
  return { settlement, events: session.read(viewSlice).events };
}

function toTool(command: AnyCommand, name: string, path: string): AnyTool {
  const { execute, timeoutMs, inputSchema } = command;
  const made = tool({
    description: 'A command.',
    inputSchema: inputSchema as never,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    execute: async (input, ctx) => {
      const returned = await execute(input as never, ctx as never);
      return isTransition(returned) ? decide(returned, ctx, `${path}.commands.${name}`) : returned;
    },
  });
  return bindTool(made, { kind: 'own' });
}

interface Committed {
  readonly events: readonly TreeEvent[];
  readonly by: string;
  readonly noted: NotedEntry;
}

/**
 * Commits patches at once. Other changes wait until no leaf runs, because they might remove or replace a running one.
 */
async function commit(machine: MachineState, { events, by, noted }: Committed, options: CommandOptions): Promise<void> {
  const isPatch = events.every(({ kind }) => kind === 'patched');
  const leave = isPatch ? undefined : await machine.steps.enter();
  try {
    const recording = machine.record(
      (plan) => {
        plan.apply(...events);
        if (events.some(({ kind }) => kind === 'moved'))
          cancelOutdatedWaits(plan, machine.charter, noted.instanceId, noted.node);
        if (!isPatch) plan.takeOutCeded();
        plan.note(noted);
      },
      recorderFor(machine, options),
    );
    if (recording instanceof Promise) await recording;
    machine.ledger.commit(by, events);
  } finally {
    leave?.();
  }
}

/** A run records with its own journal. It goes on if the journal refuses the command: only the command has failed. */
function recorderFor(machine: MachineState, { journal, signal, clock }: CommandOptions): Recorder | undefined {
  if (machine.recorder !== undefined || journal === undefined) return machine.recorder?.apart();
  return new Recorder(machine, journal, { signal, clock });
}

function find(machine: MachineState, name: string, instanceId?: string): { instance: Instance; command: AnyCommand } {
  const { tree, charter } = machine;
  const chain = chainOf(tree, instanceId ?? tree.speaker);
  if (chain.length === 0) throw new MachineError('command', `There is no instance "${instanceId}".`);
  const asked = instanceId === undefined ? chain : chain.slice(0, 1);
  for (const instance of asked) {
    const command = charter.node(instance.node).commands.get(name);
    if (command !== undefined) return { instance, command };
  }
  const known = asked.flatMap(({ node }) => [...charter.node(node).commands.keys()]);
  throw new MachineError('command', unknownCommand(name, known));
}
