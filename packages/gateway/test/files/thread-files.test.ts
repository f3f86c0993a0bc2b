import { createSession, runTurn, tool } from '@lastcall/core';
import { type Filesystem, FilesystemError, memoryFilesystem } from '@lastcall/core/files';
import { scriptedModel } from '@lastcall/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { writeFiles } from '../../src/domain/files/write-files.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { ThreadFiles } from '../../src/runtime/files/thread-files.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { onSqlite } from '../support/stores.ts';

const limits = { fileBytes: 1_000, filesBytes: 100_000, maxFiles: 100 };

describe('files of a thread', () => {
  const database = forAllTests(onSqlite.create);
  const store = forAllTests(() => database.open());
  let threads = 0;

  function open(reads: { count: number } = { count: 0 }): { files: ThreadFiles; threadId: string } {
    const threadId = `thread-${threads++}`;
    const files = new ThreadFiles({
      threadId,
      limits,
      async read(work) {
        reads.count++;
        return await work(store.db);
      },
    });
    return { files, threadId };
  }

  test('[A8] a run that uses no files reads none', async () => {
    const reads = { count: 0 };
    const { files } = open(reads);
    await runTurn({
      model: scriptedModel([[{ toolName: 'greet', input: {} }], 'Done.']),
      session: createSession({ filesystem: files }),
      tools: { greet: tool({ description: 'Greets.', inputSchema: { type: 'object' }, execute: () => 'Hello.' }) },
      prompt: 'Go.',
      journal: { append() {}, settle() {} },
    });
    expect(reads.count).toBe(0);
  });

  test('[A8] they behave like files in memory, whether they are stored or not', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 25 }), async (operations) => {
        const [{ files, threadId }, memory] = [
          open(),
          withoutEmptyDirectories(memoryFilesystem({ maxFileBytes: 1_000 })),
        ];
        const touched = new Set<string>();
        for (const one of operations) {
          if (one.kind === 'save') await save(store, { files, threadId, touched });
          else {
            touched.add(one.path);
            expect(await resultOf(files, one)).toEqual(await resultOf(memory, one));
          }
        }
        for (const file of await memory.glob('**'))
          expect(await files.readText(file)).toBe(await memory.readText(file));
      }),
      { numRuns: 150 },
    );
  });
});

const path = fc.constantFrom('a', 'a/b', 'a/b/c', 'd.txt', 'd.txt/e', 'f/g', '');
const text = fc.constantFrom('', 'x', 'é✓', 'one\ntwo\n', 'y'.repeat(600));
const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('create', 'overwrite', 'append'), path, text }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('delete', 'read', 'list', 'stat'), path }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('glob', 'grep', 'save', 'undone'), path, text: text }) },
);

type Operation = typeof operation extends fc.Arbitrary<infer T> ? T & { readonly text?: string } : never;

async function resultOf(files: Filesystem, one: Operation): Promise<unknown> {
  try {
    return { value: await perform(files, one), all: await files.glob('**') };
  } catch (error) {
    if (!(error instanceof FilesystemError)) throw error;
    return { code: error.code, all: await files.glob('**') };
  }
}

async function perform(files: Filesystem, { kind, path, text = '' }: Operation): Promise<unknown> {
  switch (kind) {
    case 'create':
    case 'overwrite':
    case 'append':
      return await files.writeText(path, text, { mode: kind });
    case 'delete':
      return await files.delete(path);
    case 'read':
      return await files.readText(path);
    case 'list':
      return await files.list(path);
    case 'stat': {
      const { kind, size } = await files.stat(path);
      return { kind, size };
    }
    case 'grep':
      return await files.grep('o');
    case 'undone': {
      const undo = await files.capture('f/g');
      try {
        await files.writeText('f/g', 'z');
      } finally {
        await undo();
      }
      return undefined;
    }
    default:
      return await files.glob('**/b*');
  }
}

/** In the store a directory exists as long as it has a file. */
function withoutEmptyDirectories(files: Filesystem): Filesystem {
  return {
    ...files,
    async delete(path) {
      await files.delete(path);
      const above = path.split('/').slice(0, -1);
      for (; above.length > 0; above.pop()) {
        const directory = above.join('/');
        if ((await files.list(directory)).length > 0) return;
        await files.delete(directory);
      }
    },
  };
}

interface Unsaved {
  readonly files: ThreadFiles;
  readonly threadId: string;
  readonly touched: ReadonlySet<string>;
}

async function save(store: Store, { files, threadId, touched }: Unsaved): Promise<void> {
  const all = await Promise.all(
    Array.from(touched, async (path) => ({ path, text: await files.readText(path).catch(() => undefined) })),
  );
  const changed = files.unsavedOf(all);
  const by = { callId: 'call', runId: 'run' };
  await store.transaction(async (tx) => writeFiles(tx, { threadId, by, canRewind: false, files: changed }));
  files.saved(changed);
}
