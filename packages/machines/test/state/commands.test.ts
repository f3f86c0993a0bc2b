import { pending } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cede, charter, createMachine, MachineError, node, runMachine, spawn, suspend, to } from '../../src/index.ts';
import { type Asked, reasons, run, systemOf, texts } from '../kit.ts';

const ran: string[] = [];
const state = z.object({ name: z.string() });
const child = node({
  instructions: 'child',
  commands: { leave: { execute: () => cede('bye') }, whoami: { execute: (_input, ctx) => ctx.instanceId } },
});
const worker = node({ instructions: 'worker', worker: true });
const root = node({
  instructions: ({ name }) => `root of ${name}`,
  state,
  initialState: { name: 'nobody' },
  transitions: { child: { description: 'C.', handler: () => spawn(child) } },
  commands: (command) => ({
    rename: command({
      inputSchema: z.object({ name: z.string() }),
      execute: async ({ name }, ctx) => {
        await Promise.resolve();
        ran.push(name);
        ctx.updateState({ name });
        return `was ${name}`;
      },
    }),
    fail: command({
      execute: (_input, ctx) => {
        ctx.updateState({ name: 'half' });
        throw new Error('on the way');
      },
    }),
    whoami: command({ execute: (_input, ctx) => ctx.instanceId }),
    hire: command({ execute: () => spawn([worker, child]) }),
    other: command({ execute: () => to('child') }),
    wait: command({ execute: () => suspend('x') }),
    leave: command({ execute: () => cede('x') }),
    later: command({ execute: () => pending() }),
  }),
});
const make = () => createMachine(charter({ nodes: { root, child, worker } }), { root });

describe('a command', () => {
  test('[M16] runs exactly once, before any inference, and resolves with its return value', async () => {
    ran.length = 0;
    const machine = make();
    const renaming = machine.command('rename', { name: 'Ada' });
    const { steps, requests } = await run(machine, ['Hello.'], { input: 'Hi.' });
    expect(await renaming).toBe('was Ada');
    expect(systemOf(requests[0])).toBe('root of Ada');
    expect(ran).toEqual(['Ada']);
    expect(steps[0]?.entries.filter(({ kind }) => kind === 'command')).toMatchObject([
      { instanceId: 'root', name: 'rename', input: { name: 'Ada' } },
    ]);
  });

  test('[M16] changes nothing if it throws', async () => {
    const machine = make();
    const before = machine.tree;
    await expect(machine.command('fail')).rejects.toThrow('on the way');
    expect(machine.tree).toBe(before);
    expect(machine.history).toEqual([]);
  });

  test('[M16] does not crash the process if it throws and its promise is not awaited', async () => {
    const machine = make();
    void machine.command('fail');
    const { steps } = await run(machine, ['Hello.'], { input: 'Hi.' });
    expect(reasons(steps)).toEqual(['end_turn']);
  });

  test('[M16] input against its schema and names that do not exist are refused, nothing changed', async () => {
    const machine = make();
    const before = machine.tree;
    await expect(machine.command('rename', { name: 3 })).rejects.toBeInstanceOf(MachineError);
    await expect(machine.command('nope')).rejects.toThrow('There is no command "nope" here. Commands: rename,');
    await expect(machine.command('rename', { name: 'x' }, { instanceId: 'root.7' })).rejects.toThrow('no instance');
    await expect(machine.command('wait')).rejects.toThrow('Only a transition can suspend');
    await expect(machine.command('leave')).rejects.toThrow('root cannot cede');
    expect(machine.tree).toBe(before);
  });

  test('[M16] one that returns pending() is refused, because nothing could answer it', async () => {
    const machine = make();
    await expect(machine.command('later')).rejects.toThrow(
      'Command "later" returned pending(), and a command cannot wait: return its result.',
    );
    expect(machine.suspended).toEqual([]);
  });

  test('[M16] one that the named instance does not have is refused with the commands of that instance', async () => {
    const machine = make();
    await run(machine, [{ toolName: 'transition_child' }, 'Hi.'], { input: 'Go.' });
    await expect(machine.command('rename', { name: 'x' }, { instanceId: 'root.1' })).rejects.toThrow(
      'There is no command "rename" here. Commands: leave, whoami.',
    );
  });

  test("[M16] is the nearest one of its name: the primary's own before its ancestors'", async () => {
    const machine = make();
    expect(await machine.command('whoami')).toBe('root');
    await run(machine, [{ toolName: 'transition_child' }, 'Hi.'], { input: 'Go.' });
    expect(await machine.command('whoami')).toBe('root.1');
    expect(await machine.command('whoami', {}, { instanceId: 'root' })).toBe('root');
    expect(await machine.command('rename', { name: 'Bo' })).toBe('was Bo');
    expect(machine.tree.root.state).toEqual({ name: 'Bo' });
  });

  test('[M16] commands run one after another, in the order they came', async () => {
    ran.length = 0;
    const machine = make();
    await Promise.all(['a', 'b', 'c'].map((name) => machine.command('rename', { name })));
    expect(ran).toEqual(['a', 'b', 'c']);
    expect(machine.tree.root.state).toEqual({ name: 'c' });
  });

  test('[M16] runs at once if it is given in the middle of a step, before the next inference', async () => {
    const machine = make();
    let during: unknown;
    const script = [
      async () => {
        await machine.command('rename', { name: 'Eve' });
        during = machine.tree.root.state;
        return { toolName: 'transition_child' };
      },
      'Hi.',
    ];
    await run(machine, script, { input: 'Go.' });
    expect(during).toEqual({ name: 'Eve' });
    expect(machine.tree.root.state).toEqual({ name: 'Eve' });
  });

  test('[M16] waits for the end of the step if it changes the tree, and runs before the next step', async () => {
    const machine = make();
    const commanded: Promise<unknown>[] = [];
    const nodes: string[] = [];
    const script = [
      () => {
        commanded.push(machine.command('other').then(() => nodes.push(machine.tree.root.node)));
        return { toolName: 'updateState', input: { name: 'Max' } };
      },
      'I am the child.',
    ];
    const { steps, requests } = await run(machine, script, { input: 'Go.' });
    await Promise.all(commanded);
    expect(nodes).toEqual(['child']);
    expect(steps[0]?.settlements).toMatchObject([{ outcome: { status: 'ok' } }]);
    expect(systemOf(requests[1])).toBe('child');
  });

  test('[M16] may spawn: the children act in the next run, without a message', async () => {
    const machine = make();
    await machine.command('hire');
    expect(machine.tree.root.children.map(({ id, node: name }) => [id, name])).toEqual([
      ['root.1', 'worker'],
      ['root.2', 'child'],
    ]);
    const { steps } = await run(machine, (request: Asked) => (systemOf(request) === 'worker' ? 'Worked.' : 'Hello.'));
    expect(steps[0]?.leaves.map(({ instanceId }) => instanceId)).toEqual(['root.1', 'root.2']);
    expect(steps[0]).toMatchObject({ response: 'Hello.', done: true });
  });

  test('[M16] may cede: the parent gets the content and is asked', async () => {
    const machine = make();
    await run(machine, [{ toolName: 'transition_child' }, 'Hi.'], { input: 'Go.' });
    await machine.command('leave');
    expect(machine.primary?.id).toBe('root');
    const { requests } = await run(machine, ['Back.']);
    expect(texts(requests[0]).at(-1)).toContain('bye');
  });

  test('[M16] rejects and changes nothing if its instance is gone when the step has ended', async () => {
    const machine = make();
    const gone = node({
      instructions: 'gone',
      transitions: { done: { description: 'D.', handler: () => cede('over') } },
      commands: { again: { execute: () => to('gone') } },
    });
    const boss = node({ instructions: 'boss', transitions: { go: { description: 'G.', handler: () => spawn(gone) } } });
    const other = createMachine(charter({ nodes: { gone, boss } }), { root: boss });
    let command: Promise<unknown> | undefined;
    const script = [
      { toolName: 'transition_go' },
      () => {
        command = other.command('again');
        return { toolName: 'transition_done' };
      },
      'Alone.',
    ];
    await run(other, script, { input: 'Go.' });
    await expect(command).rejects.toThrow('There is no instance "root.1" any more');
    expect(other.tree.root.children).toEqual([]);
    expect(machine.history).toEqual([]);
  });

  test('[M16] can be aborted by a signal if it takes too long', async () => {
    const abort = new AbortController();
    const slow = node({
      instructions: 's',
      state,
      initialState: { name: 'x' },
      commands: {
        wait: {
          execute: (_i, ctx) => {
            ctx.updateState({ name: 'y' });
            abort.abort();
            return new Promise(() => {});
          },
        },
      },
    });
    const machine = createMachine(charter({ nodes: { slow } }), { root: slow });
    await expect(machine.command('wait', {}, { signal: abort.signal })).rejects.toThrow('did not finish');
    expect(machine.tree.root.state).toEqual({ name: 'x' });
  });

  test('[M16] [M18] the input of a run that starts while a command runs is for the instance that speaks after it', async () => {
    const held = Promise.withResolvers<void>();
    const boss = node({
      instructions: 'boss',
      commands: {
        delegate: {
          execute: async () => {
            await held.promise;
            return spawn(child);
          },
        },
      },
    });
    const machine = createMachine(charter({ nodes: { boss, child } }), { root: boss });
    const commanding = machine.command('delegate');
    const running = run(machine, ['Hello.'], { input: 'Hi.' });
    await new Promise((resolve) => setImmediate(resolve));
    held.resolve();
    await commanding;
    expect(systemOf((await running).requests[0])).toBe('child');
    expect(machine.history.find(({ kind }) => kind === 'message')).toMatchObject({ node: 'child' });
  });

  test('[M16] a run that starts while a command runs waits for it', async () => {
    const held = Promise.withResolvers<void>();
    const slow = node({
      instructions: ({ name }) => name,
      state,
      initialState: { name: 'before' },
      commands: {
        wait: {
          execute: async (_i, ctx) => {
            await held.promise;
            ctx.updateState({ name: 'after' });
          },
        },
      },
    });
    const machine = createMachine(charter({ nodes: { slow } }), { root: slow });
    const commanding = machine.command('wait');
    const model = scriptedModel(['Hi.']);
    const running = runMachine(machine, { model, input: 'Go.' }).next();
    await new Promise((resolve) => setImmediate(resolve));
    expect(model.requests).toHaveLength(0);
    held.resolve();
    await Promise.all([commanding, running]);
    expect(systemOf(model.requests[0])).toBe('after');
  });

  test('[M16] a command that never ends does not block a run that is aborted or left, and its messages are kept', async () => {
    const stuck = node({ instructions: 's', commands: { wait: { execute: () => new Promise(() => {}) } } });
    const machine = createMachine(charter({ nodes: { stuck } }), { root: stuck });
    const giveUp = new AbortController();
    const commanding = machine.command('wait', {}, { signal: giveUp.signal });
    const abort = new AbortController();
    const aborted = run(machine, [], { input: 'First.', signal: abort.signal });
    await new Promise((resolve) => setImmediate(resolve));
    abort.abort(new Error('enough'));
    expect((await aborted).steps).toMatchObject([{ yieldReason: 'error', done: true, error: { message: 'enough' } }]);
    const leaving = runMachine(machine, { model: scriptedModel([]), input: 'Second.' });
    const step = leaving.next();
    await new Promise((resolve) => setImmediate(resolve));
    await leaving.return?.();
    expect((await step).value).toMatchObject({ yieldReason: 'error' });
    giveUp.abort();
    await expect(commanding).rejects.toThrow('did not finish');
    const { requests } = await run(machine, ['Both heard.']);
    expect(texts(requests[0])).toEqual(['system: s', 'user: First.', 'user: Second.']);
  });
});
