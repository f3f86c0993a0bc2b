import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { type Folder, linkPackages, makeFolder } from './support/folder.ts';
import { type Ended, lastcall, Program } from './support/program.ts';

/** An agent that knows the content of the file, and takes as long as the file says. */
const DESK = `import { contains, evaluate, exact } from '@lastcall/core/eval';
import { appendFileSync, readFileSync } from 'node:fs';

await evaluate({
  name: 'desk',
  cases: Array.from({ length: 12 }, (_, at) => ({ name: 'order ' + at, input: at, expected: 'Order ' + at + ' was sent.' })),
  async run(input) {
    appendFileSync('runs.log', input + '\\n');
    const { wrong, slowFrom = 100 } = JSON.parse(readFileSync('desk.json', 'utf8'));
    if (input >= slowFrom) await new Promise((resolve) => setTimeout(resolve, 60_000));
    if (wrong.includes(input)) return 'I do not know <that>.';
    return 'Order ' + input + ' was sent.';
  },
  scores: { exact: exact(), sent: contains('was sent') },
  parallel: 2,
});
`;

async function deskFolder(desk: object): Promise<Folder> {
  const folder = await makeFolder({ 'desk.eval.ts': DESK, 'desk.json': JSON.stringify(desk) });
  await linkPackages(folder.path);
  return folder;
}

const evaluate = async ({ path }: Folder, ...args: string[]): Promise<Ended> =>
  await lastcall(['eval', ...args], { folder: path });

describe('lastcall eval', { concurrent: true }, () => {
  test('[E5] prints a table with intervals and the worst cases, keeps a report, and exits 1 below a threshold', async () => {
    await using folder = await deskFolder({ wrong: [3, 7] });
    const { code, out, err } = await evaluate(folder, '--min', '0.9');
    expect(out).toMatch(
      /^desk: 12 runs in .+\.\nscore +mean +95 % interval +cases\nexact +83 % +55 % – 95 % +12\nsent +83 %/,
    );
    expect(out).toContain('Worst:\n  order 3: exact 0 % (It is "I do not know <that>.".)');
    expect(err).toContain('desk: 12 of 12');
    expect(err).toContain('exact is 0.833, which is below 0.9.');
    expect(code).toBe(1);
    const report = JSON.parse(await readFile(join(folder.path, '.lastcall/evals/desk.json'), 'utf8'));
    expect(report).toMatchObject({ name: 'desk', failed: 0, scores: { exact: { n: 12 } } });
    expect((await evaluate(folder, '--min', '0.8')).code).toBe(0);
  });

  test('[E5] writes JSON and JUnit', async () => {
    await using folder = await deskFolder({ wrong: [3] });
    const { code, out } = await evaluate(folder, '--json', '--junit', 'new/reports/junit.xml');
    expect(code).toBe(0);
    expect(JSON.parse(out).samples).toHaveLength(12);
    const xml = await readFile(join(folder.path, 'new/reports/junit.xml'), 'utf8');
    expect(xml).toContain('<testsuite name="desk" tests="12" failures="1" errors="0"');
    expect(xml).toContain('message="exact 0 % (It is &quot;I do not know &lt;that&gt;.&quot;.)');
  });

  test('[E5] exits 1 if no run worked, also without a threshold', async () => {
    await using folder = await deskFolder({ wrong: [] });
    await rm(join(folder.path, 'desk.json'));
    const { code, out } = await evaluate(folder, '--json');
    expect([code, JSON.parse(out).failed]).toEqual([1, 12]);
  });

  test('[E5] [E9] compares with a baseline, and says if a difference may be chance', async () => {
    await using folder = await deskFolder({ wrong: [0, 1, 2, 3, 4, 5, 6, 7] });
    await evaluate(folder);
    const report = join(folder.path, '.lastcall/evals/desk.json');
    await writeFile(join(folder.path, 'before.json'), await readFile(report));
    await writeFile(join(folder.path, 'desk.json'), JSON.stringify({ wrong: [] }));
    expect((await evaluate(folder, '--baseline', 'before.json')).out).toMatch(
      /exact +100 % +76 % – 100 % +12 +\+67 % +better/,
    );
    await writeFile(join(folder.path, 'desk.json'), JSON.stringify({ wrong: [0, 1, 2, 3, 4, 5, 6] }));
    expect((await evaluate(folder, '--baseline', 'before.json')).out).toMatch(/\+8 % +may be chance \(p 1\.0\)/);
    const missing = await evaluate(folder, '--baseline', 'none.json');
    expect([missing.code, missing.err]).toEqual([
      2,
      expect.stringContaining('The baseline "none.json" cannot be read'),
    ]);
  });

  test('[E5] after Ctrl+C it continues where it stopped, and so it does after a kill', async () => {
    await using folder = await deskFolder({ wrong: [], slowFrom: 4 });
    for (const signal of ['SIGINT', 'SIGKILL'] as const) {
      await using program = Program.lastcall(['eval'], { folder: folder.path });
      // The first four are done, and two more are running.
      const log = async () => (await readFile(join(folder.path, 'runs.log'), 'utf8').catch(() => '')).split('\n');
      await vi.waitUntil(async () => (await log()).includes('5'), { timeout: 60_000, interval: 50 });
      program.send(signal);
      const { code, err } = await program.ended;
      if (signal !== 'SIGINT') continue;
      expect(code).toBe(130);
      expect(err).toContain('Interrupted. 4 runs are kept: the same command continues with the others.');
      await writeFile(join(folder.path, 'runs.log'), '');
    }
    await writeFile(join(folder.path, 'runs.log'), '');
    await writeFile(join(folder.path, 'desk.json'), JSON.stringify({ wrong: [] }));
    const { code, out, err } = await evaluate(folder);
    expect(err).toContain('desk: continues with 4 runs that were done before.');
    expect([code, out]).toEqual([0, expect.stringContaining('desk: 12 runs')]);
    const ran = (await readFile(join(folder.path, 'runs.log'), 'utf8')).trim().split('\n');
    expect(ran.map(Number).sort((one, other) => one - other)).toEqual([4, 5, 6, 7, 8, 9, 10, 11]);
    expect(await readdir(join(folder.path, '.lastcall/evals'))).toEqual(['desk.json']);
    // A complete evaluation is not continued.
    expect((await evaluate(folder)).err).not.toContain('continues');
  });

  test('an evaluation that its file does not wait for ends with the same exit code and message if no gateway answers', async () => {
    const file = (start: string): string => `import { contains, evaluate } from '@lastcall/core/eval';
${start} evaluate({ agent: 'Desk', cases: [{ input: 'Hello' }], scores: { hi: contains('hi') } });
`;
    await using folder = await makeFolder({ 'a.eval.mjs': file('await'), 'b.eval.mjs': file('void') });
    await linkPackages(folder.path);
    const awaited = await evaluate(folder, 'a.eval.mjs', '--url', 'http://127.0.0.1:1');
    const notAwaited = await evaluate(folder, 'b.eval.mjs', '--url', 'http://127.0.0.1:1');
    expect(awaited).toMatchObject({ code: 3, err: expect.stringMatching(/^a: .+\nNo gateway answers at .+\n$/) });
    expect(notAwaited).toEqual({ ...awaited, err: awaited.err.replace('a: ', 'b: ') });
  });

  test('a file for JUnit that cannot be written is refused before anything runs', async () => {
    await using folder = await deskFolder({ wrong: [] });
    const { code, err } = await evaluate(folder, '--junit', 'desk.json/junit.xml');
    expect([code, err]).toEqual([2, expect.stringContaining('The folder of "desk.json/junit.xml" cannot be made')]);
    await expect(readFile(join(folder.path, 'runs.log'))).rejects.toThrow('ENOENT');
  });

  test('[E5] a draft is refused by an evaluation in which it would change nothing', async () => {
    await using folder = await deskFolder({ wrong: [] });
    await writeFile(join(folder.path, 'draft.md'), 'You are polite.');
    for (const draft of [
      ['--instructions', 'draft.md'],
      ['--model', 'other'],
    ]) {
      const { code, err } = await evaluate(folder, ...draft);
      expect([code, err]).toEqual([2, expect.stringMatching(/change only cases of recorded runs .+ "desk" has none/)]);
    }
    await expect(readFile(join(folder.path, 'runs.log'))).rejects.toThrow('ENOENT');
  });

  test('a second evaluation of the same name is refused, because its results would replace those of the first', async () => {
    const file = (response: string): string => `import { contains, evaluate } from '@lastcall/core/eval';
await evaluate({ run: () => '${response}', cases: [{ input: 1 }], scores: { yes: contains('yes') } });
`;
    await using folder = await makeFolder({
      ...{ 'a/desk.eval.mjs': file('Yes.'), 'b/desk.eval.mjs': file('No.'), 'b/Other.eval.mjs': file('No.') },
    });
    await linkPackages(folder.path);
    const { code, err } = await evaluate(folder);
    expect([code, err]).toEqual([2, expect.stringMatching(/evals\/desk\.json: give "desk" another name/)]);
    const report = await readFile(join(folder.path, '.lastcall/evals/desk.json'), 'utf8');
    expect(JSON.parse(report).samples).toMatchObject([{ response: 'Yes.' }]);
  });

  test('a pattern that the shell did not expand names the files that match it, and none of installed packages', async () => {
    const file = (name: string) =>
      `import { evaluate, exact } from '@lastcall/core/eval';
await evaluate({ name: '${name}', cases: [{ name: 'one', input: 1 }], run: () => 'Yes.', scores: { exact: exact('Yes.') } });`;
    await using folder = await makeFolder({
      'evals/a.eval.mjs': file('a'),
      'evals/deep/b.eval.mjs': file('b'),
      'evals/notes.txt': 'Not an evaluation.',
    });
    await linkPackages(folder.path);
    await writeFile(join(folder.path, 'node_modules', 'c.eval.mjs'), file('c'));
    const { code, out } = await evaluate(folder, '**/*.eval.mjs', '--json');
    expect(JSON.parse(out)).toMatchObject([{ name: 'a' }, { name: 'b' }]);
    expect(code).toBe(0);
    const none = await evaluate(folder, 'other/*.eval.mjs');
    expect([none.code, none.err]).toEqual([2, 'There is no file "other/*.eval.mjs".\n']);
  });

  test('the errors for a file without evaluations, a wrong name, a broken file and wrong numbers say what to do', async () => {
    await using folder = await makeFolder({
      'empty.eval.ts': 'export {};',
      'broken.eval.ts': 'throw new Error("Oh no.");',
    });
    await linkPackages(folder.path);
    const said = async (...args: string[]) => {
      const { code, err } = await evaluate(folder, ...args);
      return [code, err];
    };
    expect(await said('empty.eval.ts')).toEqual([
      1,
      expect.stringContaining('No evaluate() was called in empty.eval.ts.'),
    ]);
    expect(await said('none.eval.ts')).toEqual([2, expect.stringContaining('There is no file "none.eval.ts".')]);
    expect(await said('broken.eval.ts')).toEqual([1, expect.stringContaining('Oh no.')]);
    expect(await said('--min', '7')).toEqual([2, expect.stringContaining('It must be a number from 0 to 1.')]);
    await using nothing = await makeFolder();
    expect((await evaluate(nothing)).err).toContain('There is no file *.eval.ts here.');
  });
});
