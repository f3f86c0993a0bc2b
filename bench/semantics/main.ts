// `npm run bench:semantics` runs every scenario against every library and writes what happened to docs/semantics.md.
import { writeFile } from 'node:fs/promises';
import type { Scenario } from './scenario.ts';
import { approvedTwice } from './scenarios/approved-twice.ts';
import { callAfterStop } from './scenarios/call-after-stop.ts';
import { deafTool } from './scenarios/deaf-tool.ts';
import { failingStop } from './scenarios/failing-stop.ts';
import { firstFails } from './scenarios/first-fails.ts';
import { killed } from './scenarios/killed.ts';
import { rejectedBeside } from './scenarios/rejected-beside.ts';
import { runDeadline } from './scenarios/run-deadline.ts';
import { stepCap } from './scenarios/step-cap.ts';
import { type Means, NotSupported } from './subject.ts';
import { loadSubject, SUBJECTS, type SubjectName } from './subjects.ts';

const scenarios: readonly Scenario[] = [
  callAfterStop,
  failingStop,
  firstFails,
  deafTool,
  stepCap,
  runDeadline,
  approvedTwice,
  rejectedBeside,
  killed,
];
const LONGEST_MS = 20_000;

const sections: string[] = [];
for (const scenario of scenarios) {
  const section = await observeAll(scenario);
  console.log(section);
  sections.push(section);
}

const head = [
  '# What happens when …',
  '',
  'This page is written by `npm run bench:semantics`. It runs the same script with each library, with the library’s defaults for',
  'everything else, and records what happened. No cell is written by hand. “Not supported” means that a library has no such feature.',
  '',
  `${new Date().toISOString().slice(0, 10)}, Node ${process.version}`,
  '',
];
const asked = await tellMeans();
console.log(asked);
await writeFile(new URL('../../docs/semantics.md', import.meta.url), [...head, ...sections, asked].join('\n'));
// Abandoned tools may keep the process alive.
process.exit(0);

async function tellMeans(): Promise<string> {
  const subjects = await Promise.all(SUBJECTS.map(loadSubject));
  const kinds = Object.keys(subjects[0]?.means ?? {}) as (keyof Means)[];
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    '## By what means',
    '',
    line(['', ...subjects.map(({ name }) => name)]),
    line(['', ...subjects].map(() => '---')),
    ...kinds.map((kind) => line([kind, ...subjects.map(({ means }) => means[kind])])),
    '',
  ].join('\n');
}

async function observeAll(scenario: Scenario): Promise<string> {
  const lines = [`## ${scenario.title}`, '', scenario.told, '', '|  | observed |', '| --- | --- |'];
  for (const name of SUBJECTS) {
    const subject = await loadSubject(name);
    lines.push(`| ${subject.name} | ${await observeOne(scenario, name)} |`);
  }
  return [...lines, ''].join('\n');
}

async function observeOne(scenario: Scenario, name: SubjectName): Promise<string> {
  const timeout = Promise.withResolvers<string>();
  const timer = setTimeout(() => timeout.resolve(`nothing happened for ${LONGEST_MS / 1_000} s`), LONGEST_MS);
  try {
    return await Promise.race([scenario.observe(await loadSubject(name), name), timeout.promise]);
  } catch (error) {
    if (error instanceof NotSupported) return `not supported: ${error.message}`;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
