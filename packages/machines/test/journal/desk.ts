import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { type Journal, slice, tool } from '@lastcall/core';
import { type MemoryJournal, type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { expect } from 'vitest';
import { z } from 'zod';
import {
  cede,
  charter,
  createMachine,
  type Machine,
  type MachineStep,
  machineFromRecords,
  node,
  type RunMachineOptions,
  runMachine,
  spawn,
  suspend,
  to,
} from '../../src/index.ts';
import { problemOf, systemOf } from '../kit.ts';

const none = z.object({});
const notes = slice<readonly string[]>('notes', {
  initial: [],
  on: { Noted: (all, { what }: { type: 'Noted'; what: string }) => [...all, what] },
});
export const session = () => ({ slices: [notes] });

const note = tool({
  description: 'Notes.',
  inputSchema: z.object({ what: z.string() }),
  effects: 'session',
  execute: ({ what }, ctx) => ctx.session.dispatch({ type: 'Noted', what }),
});

/** A desk with two workers, a transition and a suspension. `world` records external effects across crashes. */
export function desk(world: string[]) {
  const search = tool({
    description: 'Searches.',
    inputSchema: none,
    execute: (_input, ctx) => {
      world.push(`search by ${(ctx as unknown as { instanceId: string }).instanceId}`);
      return 'found';
    },
  });
  const clerk = node({
    instructions: 'clerk',
    worker: true,
    state: z.object({ read: z.number() }),
    initialState: { read: 0 },
    tools: { search, note },
    transitions: { done: { description: 'D.', handler: (_input, ctx) => cede({ read: ctx.state.read }) } },
  });
  const front = node({
    instructions: 'front',
    state: z.object({ paid: z.number() }),
    initialState: { paid: 0 },
    tools: (make) => ({
      note,
      charge: make({
        description: 'Charges.',
        inputSchema: none,
        execute: (_input, ctx) => {
          world.push('charge');
          ctx.updateState({ paid: ctx.state.paid + 1 });
          return 'charged';
        },
      }),
    }),
    transitions: {
      hire: { description: 'H.', handler: () => spawn([clerk, { node: clerk, state: { read: 5 } }]) },
      ask: { description: 'A.', handler: () => suspend('May I?') },
      close: { description: 'C.', handler: (_input, ctx) => to('closed', { paid: ctx.state.paid }) },
    },
    commands: { waive: { execute: (_input, ctx) => ctx.updateState({ paid: 0 }) } },
  });
  const closed = node({ instructions: 'closed', state: z.object({ paid: z.number() }), tools: { note } });
  return charter({ nodes: { front, clerk, closed } });
}

/** The reply of each leaf depends only on its own conversation, so that a restarted process continues the same way. */
function reply(request: LanguageModelV4CallOptions): ScriptedReply {
  expect(problemOf(request)).toBeUndefined();
  const spoken = request.prompt.filter(({ role }) => role === 'assistant').length;
  const [who] = systemOf(request).split('\n');
  if (who === 'clerk') {
    const isFirst = /"read":[01]\b/.test(systemOf(request));
    return (isFirst ? FIRST : SECOND)[spoken] as ScriptedReply;
  }
  return (who === 'closed' ? 'Closed.' : FRONT[spoken]) as ScriptedReply;
}

const call = (toolName: string, input: object = {}) => ({ toolName, input });
const FRONT: readonly ScriptedReply[] = [
  [call('note', { what: 'hello' }), call('transition_hire')],
  [call('charge'), call('note', { what: 'charged' }), call('transition_ask')],
  [call('note', { what: 'allowed' }), call('transition_close')],
];
// One hands over with a transition, the other ends with a text.
const FIRST: readonly ScriptedReply[] = [
  [call('search'), call('note', { what: 'searched' })],
  [call('updateState', { read: 1 }), call('nothing')],
  [call('note', { what: 'done' }), call('transition_done')],
];
const SECOND: readonly ScriptedReply[] = [[call('search'), call('updateState', { read: 7 })], 'I found it.'];

export interface Life {
  readonly machine: Machine;
  readonly steps: readonly MachineStep[];
  readonly error: unknown;
}

/** Runs the process once: from the stored records to the end, or until the journal kills it. */
export async function live(
  world: string[],
  journal: Journal,
  kept: Pick<MemoryJournal, 'records'>,
  options: Partial<RunMachineOptions> = {},
): Promise<Life> {
  const { records } = kept;
  const made = desk(world);
  const isNew = records.length === 0;
  const machine = isNew
    ? createMachine(made, { root: 'front', session })
    : machineFromRecords(made, records, { session });
  const steps: MachineStep[] = [];
  for (let input = isNew ? { input: 'Go.' } : {}; ; input = {}) {
    // The answer comes as soon as it is asked for, at the start of a run.
    answer(machine);
    const model = () => scriptedModel(reply);
    for await (const step of runMachine(machine, { model, journal, ...options, ...input })) steps.push(step);
    const last = steps.at(-1);
    if (last?.yieldReason === 'error') return { machine, steps, error: last.error };
    if (machine.suspended.length === 0) return { machine, steps, error: undefined };
  }
}

export function answer(machine: Machine): void {
  for (const { id } of machine.suspended) machine.resume(id, 'yes');
}
