import { describe, expect, it } from 'vitest';
import { type Filesystem, memoryFilesystem } from '../../src/doors/files.ts';
import { createSession, fail, resource, rewindTool, runTurn, type Staged, tool } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

type Work = (files: Filesystem) => unknown;

/** The arguments that the journal gets with the end of each call. */
async function stagedOf(works: readonly Work[], filesystem: Filesystem): Promise<readonly Staged['files'][]> {
  const staged: Staged['files'][] = [];
  const tools = Object.fromEntries(
    works.map((work, index) => [
      `work${index}`,
      tool({
        description: 'Works.',
        inputSchema: { type: 'object' },
        execute: async (_input, ctx) => await work(ctx.filesystem),
      }),
    ]),
  );
  await runTurn({
    model: scriptedModel([...works.map((_, index) => [{ toolName: `work${index}`, input: {} }]), 'Done.']),
    session: createSession({ filesystem }),
    tools,
    prompt: 'Go.',
    journal: { append() {}, settle: (_entry, { files }) => void staged.push(files) },
  });
  return staged;
}

const journaled = (files: Record<string, string> = {}): Filesystem => ({
  ...memoryFilesystem({ files }),
  isJournaled: true,
});

describe('files that a journal stores', () => {
  it('[A8] a journal gets the files that a call changed, with its end', async () => {
    const staged = await stagedOf(
      [
        async (files) => {
          await files.writeText('a/b.txt', 'one');
          await files.writeText('a/b.txt', ' two', { mode: 'append' });
          await files.delete('old.txt');
        },
        (files) => files.readText('a/b.txt'),
      ],
      journaled({ 'old.txt': 'x' }),
    );
    expect(staged).toEqual([
      [
        { path: 'a/b.txt', text: 'one two' },
        { path: 'old.txt', text: undefined },
      ],
      undefined,
    ]);
  });

  it('[A8] writes that the tool did not await are stored with its end, and later ones are refused', async () => {
    let late: Promise<unknown> = Promise.resolve();
    const staged = await stagedOf(
      [
        (files) => {
          void files.writeText('x.txt', 'first');
          void files.writeText('x.txt', ' second', { mode: 'append' });
          late = new Promise((done) => setTimeout(done)).then(() => files.writeText('y.txt', 'late'));
          late.catch(() => {});
        },
      ],
      journaled(),
    );
    expect(staged).toEqual([[{ path: 'x.txt', text: 'first second' }]]);
    await expect(late).rejects.toThrow();
  });

  it('[A8] a failed call leaves no file, and the journal gets none', async () => {
    const filesystem = journaled({ 'kept.txt': 'kept' });
    const staged = await stagedOf(
      [
        async (files) => {
          await files.writeText('kept.txt', 'changed');
          return fail('No.');
        },
      ],
      filesystem,
    );
    expect(staged).toEqual([undefined]);
    expect(await filesystem.readText('kept.txt')).toBe('kept');
  });

  it('a journal gets no files of a file system that keeps them itself', async () => {
    expect(await stagedOf([(files) => files.writeText('x.txt', 'x')], memoryFilesystem())).toEqual([undefined]);
  });

  it('[A10] a call that uses a resource and no file does not open a file system that is a resource', async () => {
    const opened: string[] = [];
    const make = (key: string) =>
      resource(key, {
        create() {
          opened.push(key);
          return memoryFilesystem();
        },
      });
    const [files, other] = [make('filesystem'), make('other')];
    await runTurn({
      model: scriptedModel([[{ toolName: 'use', input: {} }], 'Done.']),
      session: createSession({ resources: [files, other] }),
      tools: {
        use: tool({
          description: 'Uses the other.',
          inputSchema: { type: 'object' },
          execute: (_input, { resources }) => void resources.get(other),
        }),
      },
      prompt: 'Go.',
      journal: { append() {}, settle() {} },
    });
    expect(opened).toEqual(['other']);
  });

  it('[A8] a journal that refuses the end of a call leaves the files unchanged', async () => {
    const filesystem = journaled();
    const turn = runTurn({
      model: scriptedModel([[{ toolName: 'write', input: {} }], 'Done.']),
      session: createSession({ filesystem }),
      tools: {
        write: tool({
          description: 'Writes.',
          inputSchema: { type: 'object' },
          execute: (_input, ctx) => ctx.filesystem.writeText('x.txt', 'x'),
        }),
        rewind: rewindTool,
      },
      prompt: 'Go.',
      journal: {
        append() {},
        settle() {
          throw new Error('The disk is full.');
        },
      },
    });
    await expect(turn).rejects.toThrow('The disk is full.');
    expect(await filesystem.glob('**')).toEqual([]);
  });
});
