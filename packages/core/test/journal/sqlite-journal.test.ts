import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type SqliteJournal, sqliteJournal } from '../../src/doors/sqlite-journal.ts';
import { type Entry, LastcallError, replay, runTurn, type Staged, Transcript } from '../../src/index.ts';
import { openJournalFile } from '../../src/node/journal-file.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { notes, orderDesk } from './order-desk.ts';

let folder: string;
let path: string;
const opened: SqliteJournal[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lastcall-journal-'));
  path = join(folder, 'journal.db');
});
afterEach(() => {
  for (const journal of opened.splice(0)) journal.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(at: string = path): SqliteJournal {
  const journal = sqliteJournal({ path: at });
  opened.push(journal);
  return journal;
}

const TURN: Entry = { kind: 'turn' };
const said = (text: string): Entry => ({
  kind: 'message',
  message: { role: 'user', content: [{ type: 'text', text }] },
});
const settled = (callId: string): Extract<Entry, { kind: 'settled' }> => ({
  kind: 'settled',
  settlement: {
    callId,
    toolName: 'note',
    input: {},
    outcome: { status: 'ok', value: 1, text: '1' },
    startedAt: 1,
    endedAt: 2,
  },
});
const staged: Staged = { events: [{ type: 'Noted', what: 'chair' } as { type: string }] };

describe('1. accepted records are durable', () => {
  test('another process finds the records, and continues the turn from them', async () => {
    const desk = orderDesk(join(folder, 'world.txt'));
    const first = open();
    const thread = first.thread('order');
    const { stop } = await runTurn({
      ...desk.turn(),
      model: desk.model(0),
      session: desk.session(),
      journal: thread.journal,
    });
    expect(stop).toEqual({ reason: 'suspended' });
    first.close();

    const again = open().thread('order');
    const records = again.records();
    const session = desk.session();
    replay(session, records);
    expect(session.read(notes)).toEqual(['chair']);
    const transcript = new Transcript(records.map(({ entry }) => entry));
    const waiting = records.find(({ entry }) => entry.kind === 'pending')?.entry;
    const callId = waiting?.kind === 'pending' ? waiting.settlement.callId : '';
    const { prompt: _, ...turn } = desk.turn();
    const { response } = await runTurn({
      ...turn,
      model: desk.model(2),
      session,
      transcript,
      answers: { [callId]: { approve: true } },
      journal: again.journal,
    });
    expect(response).toBe('Done.');
    expect(session.read(notes)).toEqual(['chair', 'shipped']);
  });

  test('a commit waits for the disk, and other processes read meanwhile', () => {
    const { database } = openJournalFile(path);
    expect(database.prepare('pragma synchronous').get()).toEqual({ synchronous: 2 });
    expect(database.prepare('pragma journal_mode').get()).toEqual({ journal_mode: 'wal' });
    database.close();
  });

  test("':memory:' keeps records until it is closed", async () => {
    const journal = open(':memory:');
    await journal.thread('a').journal.append([TURN]);
    expect(journal.thread('a').records()).toEqual([{ entry: TURN }]);
    journal.close();
    expect(open(':memory:').thread('a').records()).toEqual([]);
  });
});

test('2. the entries of one append are stored together or not at all', async () => {
  const thread = open().thread('a');
  await thread.journal.append([TURN]);
  execute(
    "create trigger refuse before insert on records when new.entry like '%bad%' begin select raise(abort, 'no'); end",
  );
  const refused = await rejection(thread.journal.append([said('good'), said('bad')]));
  expect(refused.code).toBe('journal_write');
  expect(open().thread('a').records()).toEqual([{ entry: TURN }]);
});

test('2. the end of a call is stored with its changes', async () => {
  const thread = open().thread('a');
  await thread.journal.settle(settled('c-1'), staged);
  expect(open().thread('a').records()).toEqual([{ entry: settled('c-1'), staged }]);
});

describe('3. a thread has one history', () => {
  test('of two writers, the one that writes second is refused and changes nothing', async () => {
    const [one, other] = [open().thread('a'), open().thread('a')];
    await other.journal.append([said('other')]);
    const error = await rejection(one.journal.append([said('one')]));
    expect(error.code).toBe('journal_conflict');
    expect(error.message).toContain(`another writer has changed thread "a" of the journal "${path}"`);
    await other.journal.append([said('other again')]);
    expect(open().thread('a').records()).toEqual([{ entry: said('other') }, { entry: said('other again') }]);
  });

  test('a turn whose thread was continued elsewhere stops before its tool runs', async () => {
    const desk = orderDesk(join(folder, 'world.txt'));
    const thread = open().thread('order');
    const model = scriptedModel([
      async () => {
        await open()
          .thread('order')
          .journal.append([said('I was quicker.')]);
        return [{ toolName: 'charge' }];
      },
    ]);
    const turn = runTurn({ ...desk.turn(), model, session: desk.session(), journal: thread.journal });
    expect((await rejection(turn)).code).toBe('journal_conflict');
    expect(desk.effects()).toEqual([]);
  });

  test('opening and reading a thread refuses no writer', async () => {
    const writer = open().thread('a');
    await writer.journal.append([TURN]);
    expect(open().thread('a').records()).toHaveLength(1);
    await writer.journal.append([said('more')]);
    expect(writer.records()).toHaveLength(2);
  });

  test('writers of different threads do not block each other', async () => {
    const threads = Array.from({ length: 20 }, (_, index) => open().thread(`t-${index}`));
    for (let round = 0; round < 5; round++)
      await Promise.all(threads.map(({ journal }) => journal.append([said(String(round))])));
    expect(threads.map((thread) => thread.records().length)).toEqual(threads.map(() => 5));
  });

  test('processes that open a new file at the same moment all succeed', { timeout: 60_000 }, async () => {
    const door = new URL('../../src/doors/sqlite-journal.ts', import.meta.url).href;
    const code = `
      const { sqliteJournal } = await import(${JSON.stringify(door)});
      while (Date.now() < Number(process.argv[1])) {}
      for (let n = 0; n < 20; n++)
        await sqliteJournal({ path: ${JSON.stringify(path)} }).thread(String(process.pid)).journal.append([{ kind: 'turn' }]);
    `;
    const at = String(Date.now() + 2_000);
    await Promise.all(Array.from({ length: 4 }, () => node(['-e', code, at])));
    const journal = open();
    expect(journal.threads().map((id) => journal.thread(id).records().length)).toEqual([20, 20, 20, 20]);
  });

  test('a file that another process is writing to is opened as soon as it is free', async () => {
    open().close();
    const plain = new DatabaseSync(path);
    plain.exec('pragma journal_mode = delete');
    plain.close();
    // The change back to a write-ahead log needs the file for itself, and SQLite does not wait for that.
    const code = `
      import { DatabaseSync } from 'node:sqlite';
      import { parentPort } from 'node:worker_threads';
      const database = new DatabaseSync(${JSON.stringify(path)});
      database.exec('begin immediate');
      parentPort.postMessage('locked');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
      database.exec('commit');
      database.close();
    `;
    const writer = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
    const left = new Promise((resolve, reject) => writer.once('error', reject).once('exit', resolve));
    await new Promise((resolve) => writer.once('message', resolve));
    const thread = open().thread('t');
    await thread.journal.append([said('Hello.')]);
    expect(thread.records()).toHaveLength(1);
    expect(await left).toBe(0);
  });

  test('a new file never looks like the file of another program while its tables are created', {
    timeout: 60_000,
  }, async () => {
    const door = new URL('../../src/doors/sqlite-journal.ts', import.meta.url).href;
    const [threads, files] = [3, 100];
    // All threads open each file within microseconds of each other.
    const code = `
      import { workerData } from 'node:worker_threads';
      import { sqliteJournal } from ${JSON.stringify(door)};
      for (let file = 1; file <= ${files}; file++) {
        Atomics.add(workerData, 0, 1);
        while (Atomics.load(workerData, 0) < file * ${threads}) {}
        sqliteJournal({ path: ${JSON.stringify(path)} + file }).close();
      }
    `;
    const workerData = new Int32Array(new SharedArrayBuffer(4));
    const started = Array.from(
      { length: threads },
      () => new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), { workerData }),
    );
    try {
      const ends = started.map(
        (worker) => new Promise((resolve, reject) => worker.once('error', reject).once('exit', resolve)),
      );
      expect(await Promise.all(ends)).toEqual([0, 0, 0]);
    } finally {
      await Promise.all(started.map((worker) => worker.terminate()));
    }
  });
});

test('4. after a refused write, a later one is refused too', async () => {
  const thread = open().thread('a');
  execute("create trigger refuse before insert on records begin select raise(abort, 'disk full'); end");
  const first = await rejection(thread.journal.settle(settled('c-1'), staged));
  expect(first.message).toContain('A write to thread "a"');
  expect(first.message).toContain('disk full');
  execute('drop trigger refuse');
  const second = await rejection(thread.journal.settle(settled('c-2'), staged));
  expect(second.code).toBe('journal_write');
  expect(second).not.toBe(first);
  expect(thread.records()).toEqual([]);
  await open().thread('a').journal.append([TURN]);
});

test('5. records() does not show what other writers have written since', async () => {
  const thread = open().thread('a');
  await thread.journal.append([said('mine')]);
  await open()
    .thread('a')
    .journal.append([said('of another')]);
  expect(thread.records()).toEqual([{ entry: said('mine') }]);
});

test('6. fields and kinds that this version does not know are kept', async () => {
  const unknown = { kind: 'moved', instance: 'i-1', to: 'b' } as unknown as Entry;
  const field = { ...settled('c-1'), instance: 'i-1' };
  const more = { ...staged, tree: [{ op: 'cede' }] };
  const { journal } = open().thread('a');
  await journal.append([unknown]);
  await journal.settle(field, more);
  expect(open().thread('a').records()).toEqual([{ entry: unknown }, { entry: field, staged: more }]);
});

test('6. values that JSON cannot hold are kept as in a transcript, and URLs are URLs again', async () => {
  const url = new URL('https://example.com/a.png');
  const picture: Entry = {
    kind: 'message',
    message: { role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: { type: 'url', url } }] },
  };
  const loop: Record<string, unknown> = { big: 1n };
  loop.loop = loop;
  const end = settled('c-1');
  const value = {
    ...end,
    settlement: { ...end.settlement, outcome: { status: 'ok' as const, value: loop, text: '' } },
  };
  const { journal } = open().thread('a');
  await journal.append([picture, said('\ud800 \0')]);
  await journal.settle(value, staged);
  const [first, second, third] = open().thread('a').records();
  expect(first?.entry).toEqual(picture);
  expect(second?.entry).toEqual(said('\ud800 \0'));
  expect(third?.entry).toMatchObject({ settlement: { outcome: { value: { big: '1', loop: '[circular]' } } } });
});

describe('7. the error names a damaged record, and other threads still work', () => {
  test.each([
    ['is not JSON', "update records set entry = '{' where seq = 2", 'its entry is not JSON.'],
    ['is not an entry', `update records set entry = '{"kind":"stop"}' where seq = 2`, 'entry.stop must be an object.'],
    ['is missing', "delete from records where thread = 'a' and seq = 2", 'it is missing.'],
    [
      'changed something unreadable',
      "update records set staged = '[]' where seq = 2",
      'what it changed has no list of events.',
    ],
  ])('it %s', async (_, damage, problem) => {
    const { journal } = open().thread('a');
    await journal.append([TURN, said('x'), said('y')]);
    await open().thread('b').journal.append([TURN]);
    execute(damage.includes('thread') ? damage : `${damage} and thread = 'a'`);
    const store = open();
    const error = thrown(() => store.thread('a').records());
    expect(error.code).toBe('journal_damaged');
    expect(error.message).toBe(
      `Record 2 of thread "a" in the journal "${path}" cannot be read: ${problem} Other threads are not affected. Restore the file from a backup, or delete the thread.`,
    );
    expect(store.thread('b').records()).toEqual([{ entry: TURN }]);
    store.delete('a');
    expect(store.thread('a').records()).toEqual([]);
  });

  test('it is the last one and is missing', async () => {
    const { journal, records } = open().thread('a');
    await journal.append([TURN, said('x'), said('y')]);
    execute("delete from records where thread = 'a' and seq = 3");
    const error = thrown(() => records());
    expect([error.code, error.message.split(': ')[1]?.slice(0, 14)]).toEqual(['journal_damaged', 'it is missing.']);
    expect(error.message).toContain('Record 3 of thread "a"');
  });
});

describe('8. closing', () => {
  test('loses no write, and refuses later ones', async () => {
    const store = open();
    const thread = store.thread('a');
    const writing = thread.journal.append([TURN]);
    store.close();
    await writing;
    expect((await rejection(thread.journal.append([TURN]))).code).toBe('journal_closed');
    expect(thrown(() => thread.records()).code).toBe('journal_closed');
    expect(thrown(() => store.thread('a')).message).toBe(`The journal "${path}" is closed.`);
    store.close();
    expect(open().thread('a').records()).toEqual([{ entry: TURN }]);
  });

  test('a thread keeps the others open', async () => {
    const store = open();
    const [one, other] = [store.thread('a'), store.thread('b')];
    one.close();
    one.close();
    expect((await rejection(one.journal.append([TURN]))).message).toContain('Thread "a"');
    await other.journal.append([TURN]);
  });
});

test('9. a deleted thread is gone, and a writer that had it open is refused even if it was written anew', async () => {
  const store = open();
  const writer = store.thread('a');
  await writer.journal.append([TURN]);
  await store.thread('b').journal.append([TURN]);
  store.delete('a');
  expect(store.threads()).toEqual(['b']);
  await store.thread('a').journal.append([said('anew')]);
  expect((await rejection(writer.journal.append([said('x')]))).code).toBe('journal_conflict');
  expect(store.thread('a').records()).toEqual([{ entry: said('anew') }]);
});

describe('10. a file that cannot be a journal is refused and not changed', () => {
  test.each([
    [
      'of a newer format',
      'it has format 2, and this version reads 1. Use a newer @lastcall/core.',
      () => {
        open().close();
        execute('pragma user_version = 2; pragma journal_mode = delete');
      },
    ],
    [
      'of another program',
      'it is a database of another program. Give the journal another file.',
      () => execute('create table customers (name text)'),
    ],
    ['that is no database', 'SQLite says: file is not a database.', () => writeFileSync(path, 'x'.repeat(5_000))],
  ])('%s', (_, problem, make) => {
    make();
    copyFileSync(path, join(folder, 'copy'));
    const error = thrown(() => open());
    expect(error.code).toBe('journal_file');
    expect(error.message).toBe(`The journal "${path}" cannot be opened: ${problem}`);
    expect(readFileSync(path).equals(readFileSync(join(folder, 'copy')))).toBe(true);
  });

  test('a folder that does not exist is named', () => {
    expect(thrown(() => open(join(folder, 'not', 'here.db'))).message).toContain(
      `its folder does not exist. Create "${join(folder, 'not')}".`,
    );
  });

  test('on a Node without node:sqlite the error says what to do', async () => {
    const door = new URL('../../src/doors/sqlite-journal.ts', import.meta.url).href;
    const code = `const { sqliteJournal } = await import(${JSON.stringify(door)});
      try { sqliteJournal({ path: ':memory:' }); } catch (error) { console.log(error.code, error.message); }`;
    const { stdout } = await node(['--no-experimental-sqlite', '-e', code]);
    expect(stdout).toContain('journal_unsupported sqliteJournal needs node:sqlite, which Node has since 22.13');
    expect(stdout).toContain('Upgrade Node, or give runTurn a journal of your own.');
  });
});

test.each(['', ' ', undefined, 7])('the path %j is refused', (bad) => {
  expect(thrown(() => sqliteJournal({ path: bad as string })).message).toBe(
    'Option "path" must be the path of a file.',
  );
});

test.each(['', '\ud800', 'a\0b', undefined])('the thread id %j is refused', (bad) => {
  expect(thrown(() => open(':memory:').thread(bad as string)).code).toBe('options');
});

test('an option that does not exist is refused', () => {
  const options = { path: ':memory:', file: 'x' } as { path: string };
  expect(thrown(() => sqliteJournal(options)).message).toContain('Option "file" is not known.');
});

/** Accesses the file without the journal, as another program would. */
function execute(statements: string): void {
  const database = new DatabaseSync(path);
  database.exec(statements);
  database.close();
}

async function rejection(promise: unknown): Promise<LastcallError> {
  const error: unknown = await Promise.resolve(promise).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(LastcallError);
  return error as LastcallError;
}

function thrown(run: () => unknown): LastcallError {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(LastcallError);
    return error as LastcallError;
  }
  throw new Error('Nothing was thrown.');
}

function node(args: readonly string[]): Promise<{ stdout: string }> {
  const flags = ['--conditions=@lastcall/source', '--input-type=module'];
  return promisify(execFile)(process.execPath, [...flags, ...args]);
}
