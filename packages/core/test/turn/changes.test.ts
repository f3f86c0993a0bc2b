import { expect, test } from 'vitest';
import { z } from 'zod';
import { memoryFilesystem } from '../../src/doors/files.ts';
import {
  type Changes,
  createSession,
  dispatchCall,
  retry,
  runTurn,
  slice,
  type ToolContext,
  type ToolSet,
  tool,
} from '../../src/index.ts';
import { memoryJournal, scriptedModel } from '../../src/testing/index.ts';

const notes = slice<number>('notes', { initial: 0, on: { noted: (count) => count + 1 } });
const noted = (what: string) => ({ type: 'noted', what });
const none = z.object({});

const probing = (execute: (ctx: ToolContext) => unknown, more: object = {}): ToolSet => ({
  probe: tool({ description: 'd', inputSchema: none, execute: (_input, ctx) => execute(ctx), ...more }),
});

/** Runs one call of `probe` in a turn, and returns the changes that the journal got with its end. */
async function changesOf(tools: ToolSet, options: object = {}): Promise<Changes | undefined> {
  const journal = memoryJournal();
  const session = createSession({
    slices: [notes],
    filesystem: memoryFilesystem({ files: { 'old.txt': 'before' } }),
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  const model = scriptedModel([{ toolName: 'probe', input: {} }, 'Done.']);
  await runTurn({ model, tools, session, journal, prompt: 'Go.', ...options });
  return journal.records.find(({ entry }) => entry.kind === 'settled')?.staged?.changes;
}

async function writeAll(ctx: ToolContext): Promise<void> {
  ctx.session.dispatch(noted('one'));
  ctx.session.dispatch(noted('two'));
  await ctx.filesystem.writeText('new.txt', 'x');
  await ctx.filesystem.writeText('new.txt', 'y');
  await ctx.filesystem.delete('old.txt');
}

const ALL = [
  { kind: 'event', name: 'noted', count: 2, sample: noted('one') },
  { kind: 'file', name: 'new.txt', count: 2, sample: 'written' },
  { kind: 'file', name: 'old.txt', count: 1, sample: 'deleted' },
];

test('the journal gets with the end of a call how many events and files it committed', async () => {
  expect(await changesOf(probing(writeAll))).toEqual({ committed: ALL, discarded: [] });
});

test('the journal gets with the end of a failed call what was rolled back', async () => {
  const failing = probing(async (ctx) => {
    await writeAll(ctx);
    throw new Error('No.');
  });
  expect(await changesOf(failing)).toEqual({ committed: [], discarded: ALL });
});

test('the end of a call that changed nothing has no changes', async () => {
  expect(await changesOf(probing(() => 'fine'))).toBeUndefined();
  const failing = probing(() => {
    throw new Error('No.');
  });
  expect(await changesOf(failing)).toBeUndefined();
});

test('changes of earlier attempts are reported as discarded, next to those that the last attempt committed', async () => {
  const tools = probing((ctx) => {
    ctx.session.dispatch(noted(`attempt ${ctx.attempt}`));
    if (ctx.attempt < 3) throw new Error('Again.');
    return 'done';
  });
  expect(await changesOf(tools, { middleware: [retry({ attempts: 3, backoff: 0 })] })).toEqual({
    committed: [{ kind: 'event', name: 'noted', count: 1, sample: noted('attempt 3') }],
    discarded: [{ kind: 'event', name: 'noted', count: 2, sample: noted('attempt 1') }],
  });
});

test('changes of a call that was abandoned at its timeout are reported as discarded', async () => {
  const tools = probing(
    async (ctx) => {
      ctx.session.dispatch(noted('half'));
      await new Promise<never>(() => {});
    },
    { timeoutMs: 1 },
  );
  expect(await changesOf(tools)).toEqual({
    committed: [],
    discarded: [{ kind: 'event', name: 'noted', count: 1, sample: noted('half') }],
  });
});

test('changes of a failed nested call are reported as discarded by its parent call', async () => {
  const inner = probing(async (ctx) => {
    ctx.session.dispatch(noted('inside'));
    await ctx.filesystem.writeText('new.txt', 'inside');
    throw new Error('No.');
  });
  const tools = probing(async (ctx) => {
    await ctx.filesystem.writeText('kept.txt', 'k');
    await dispatchCall({ tools: inner, parent: ctx, call: { toolName: 'probe', input: {} } });
    return 'went on';
  });
  expect(await changesOf(tools)).toEqual({
    committed: [{ kind: 'file', name: 'kept.txt', count: 1, sample: 'written' }],
    discarded: [
      { kind: 'event', name: 'noted', count: 1, sample: noted('inside') },
      { kind: 'file', name: 'new.txt', count: 1, sample: 'written' },
    ],
  });
});

test('a write that was refused is not counted', async () => {
  const tools = probing(async (ctx) => {
    await ctx.filesystem.delete('missing.txt').catch(() => {});
    await ctx.filesystem.writeText('../outside.txt', 'x').catch(() => {});
    return 'fine';
  });
  expect(await changesOf(tools)).toBeUndefined();
});
