import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SampleRun } from './run-samples.ts';

const root = join(import.meta.dirname, '../../..');
const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => join('docs', name));
const pages = ['README.md', ...docs.filter((path) => ['docs', 'docs/tools'].includes(dirname(path)))];
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Sample {
  /** A file name made from the page and the number of the sample. */
  readonly file: string;
  readonly code: string;
}

function blocksOf(path: string, language: string): readonly string[] {
  return Array.from(
    read(path).matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms')),
    ([, body]) => body ?? '',
  );
}

const samples: readonly Sample[] = pages.flatMap((path) =>
  blocksOf(path, 'ts')
    .filter((code) => code.startsWith('import '))
    .map((code, index) => ({
      file: `${path
        .replace(/^docs\/|\.md$/g, '')
        .replaceAll('/', '-')
        .toLowerCase()}-${index + 1}.ts`,
      code,
    })),
);

// Node strips no types below node_modules, so the samples are written elsewhere; `dist` is ignored by git and by every check.
let directory: string;
const run = promisify(execFile);
const MOST_MS = 120_000;

beforeAll(() => {
  mkdirSync(join(root, 'dist'), { recursive: true });
  directory = mkdtempSync(join(root, 'dist/samples-'));
  for (const { file, code } of samples) writeFileSync(join(directory, file), code);
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(TSCONFIG));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

const TSCONFIG = {
  extends: '../../tsconfig.base.json',
  compilerOptions: {
    noEmit: true,
    composite: false,
    emitDeclarationOnly: false,
    isolatedDeclarations: false,
    rewriteRelativeImportExtensions: false,
    allowImportingTsExtensions: true,
    types: ['node'],
  },
  include: ['*.ts'],
  references: ['core', 'machines', 'gateway', 'client'].map((name) => ({ path: `../../packages/${name}` })),
};

describe('the samples of the documentation', () => {
  test('exist, at least one on every page about a concept', () => {
    const withoutSample = [
      'docs/README.md',
      'docs/glossary.md',
      'docs/benchmarks.md',
      'docs/claims.md',
      'docs/semantics.md',
      'docs/http-api.md',
      'docs/deploying.md',
      'docs/installing.md',
      'docs/tutorial.md',
      'docs/change-a-prompt.md',
      'docs/upgrading.md',
      'docs/by-curl.md',
      'docs/studio.md',
      'docs/comparison.md',
      'docs/command-line.md',
      'docs/guarantees.md',
      'docs/simulation.md',
      'docs/threats.md',
    ];
    const expected = pages.filter((path) => !withoutSample.includes(path));
    expect(expected.filter((path) => !blocksOf(path, 'ts').some((code) => code.startsWith('import ')))).toEqual([]);
  });

  test('compile', { timeout: MOST_MS }, async () => {
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [tsc, '-b', directory]).catch((error) => error);
    const errors = String(stdout)
      .split('\n')
      .filter((line) => line.includes('error TS'));
    // The sources that the samples import are checked by the build, with a better message.
    expect(errors.filter((line) => !line.includes('packages/core/src/'))).toEqual([]);
  });

  // Started early, so that they run in parallel with the compiler.
  let running: Promise<ReadonlyMap<string, SampleRun>>;
  beforeAll(() => {
    running = runSamples();
    running.catch(() => {});
  });

  // A line that prints is followed by comments `// → …`, one for each line it prints.
  test.each(samples)('$file prints what it says it prints', { timeout: MOST_MS }, async ({ file, code }) => {
    const promised = Array.from(code.matchAll(/\/\/ → ?(.*)$/gm), ([, line]) => line).join('\n');
    const { out = '', err, problem } = (await running).get(file) ?? {};
    expect({ err, problem }).toEqual({ err: '', problem: undefined });
    expect(out.replace(/ +$/gm, '').trimEnd()).toBe(promised);
  });

  test.each([
    ['ts', 'main.ts'],
    ['text', 'output.txt'],
  ])('that session.md quotes as %s from an example are parts of its %s', (language, file) => {
    const whole = read(join('examples/half-way', file));
    const quoted = blocksOf('docs/session.md', language).filter((part) => !part.startsWith('import '));
    expect(quoted.length).toBeGreaterThan(0);
    for (const part of quoted) expect(whole).toContain(part);
  });
});

test.each(['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...docs])(
  'every relative link in %s leads to a file',
  (path) => {
    const targets = Array.from(read(path).matchAll(/\]\(([^)\s]+)\)/g), ([, target]) => target ?? '');
    const local = targets.filter((target) => !/^[a-z]+:/.test(target)).map((target) => target.replace(/#.*$/, ''));
    expect(local.filter((target) => target !== '' && !existsSync(join(root, dirname(path), target)))).toEqual([]);
  },
);

test('every page, law file and decision is linked from an index', () => {
  const linked = (index: string): readonly string[] =>
    Array.from(read(index).matchAll(/\]\(([^)\s#]+)/g), ([, target]) =>
      relative(root, join(root, dirname(index), target ?? '')),
    );
  const reached = new Set(['docs/README.md', 'docs/laws/README.md', 'docs/decisions/README.md'].flatMap(linked));
  expect(docs.filter((path) => path !== 'docs/README.md' && !reached.has(path))).toEqual([]);
});

describe('docs/threats.md', () => {
  const [stopped = ''] = read('docs/threats.md').split('\n## What is not stopped\n');
  const sections = stopped.split(/^## .*$/m).slice(1);
  const lines = sections.flatMap((section) => section.split('\n')).filter((line) => line !== '');

  test('has only tables, except in its introduction and in the list of what is not stopped', () => {
    expect(lines.length).toBeGreaterThan(50);
    expect(lines.filter((line) => !line.startsWith('|'))).toEqual([]);
  });

  test('names the tests of every attempt, and they exist', () => {
    const rows = lines.filter((line) => !/^\|(---\||[ ]attempt )/.test(line));
    const testsOf = (row: string): readonly string[] => {
      const last = row.split('|').at(-2) ?? '';
      return Array.from(last.matchAll(/`([^`]+)`/g), ([, name = '']) =>
        name.startsWith('packages/') ? name : `packages/gateway/test/${name}`,
      );
    };
    const isProven = (names: readonly string[]): boolean =>
      names.length > 0 && names.every((name) => name.endsWith('.test.ts') && existsSync(join(root, name)));
    expect(rows.filter((row) => !isProven(testsOf(row)))).toEqual([]);
  });
});

describe('the documentation of errors', () => {
  const errors = read('packages/core/src/errors.ts');
  const sources = readdirSync(join(root, 'packages/core/src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(join('packages/core/src', name)));
  const found = (pattern: RegExp): readonly string[] =>
    sources.flatMap((source) => Array.from(source.matchAll(pattern), ([, name]) => name ?? ''));
  const missingFrom = (page: string, names: readonly string[]): readonly string[] => {
    const text = read(page);
    return names.filter((name) => !text.includes(`\`${name}\``));
  };

  test('names every code an outcome may have', () => {
    const codes = literalsOf(read('packages/core/src/results/outcome.ts'), 'ErrorCode');
    expect(codes).toContain('unknown_tool');
    expect(missingFrom('docs/dispatch.md', codes)).toEqual([]);
  });

  test('names every error class, and the code of each', () => {
    const classes = found(/^export class (\w+) extends \w*Error\b/gm);
    const codes = found(/(?:super|new LastcallError)\(\s*'(\w+)'/g);
    expect(classes).toContain('LastcallError');
    expect(classes).toContain('MaxInvocationsExceeded');
    expect(codes).toContain('tool_set');
    expect(codes).toContain('script_ended');
    expect(missingFrom('docs/errors.md', [...classes, ...codes])).toEqual([]);
  });

  test('names every code of a file operation', () => {
    const codes = literalsOf(errors, 'FilesystemErrorCode');
    expect(codes).toContain('not_found');
    expect(missingFrom('docs/errors.md', codes)).toEqual([]);
  });
});

/** Runs all samples in one process, with the packages as they are published. The process exits once the last sample has nothing left to do. */
async function runSamples(): Promise<ReadonlyMap<string, SampleRun>> {
  const program = join(import.meta.dirname, 'run-samples.ts');
  const files = samples.map(({ file }) => join(directory, file));
  // Temporary files of the samples are removed with the samples.
  const env = { ...process.env, TMPDIR: directory };
  const { stdout } = await run(process.execPath, [program, ...files], { timeout: MOST_MS, env });
  return new Map((JSON.parse(stdout) as SampleRun[]).map((one) => [basename(one.file), one]));
}

/** The texts in a union type of a source file. */
function literalsOf(source: string, type: string): readonly string[] {
  const [, union = ''] = new RegExp(`type ${type} =([^;]*);`).exec(source) ?? [];
  return Array.from(union.matchAll(/'(\w+)'/g), ([, literal]) => literal ?? '');
}
