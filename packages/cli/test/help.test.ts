import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../src/main.ts';
import { makeFolder } from './support/folder.ts';
import { inProcess } from './support/in-process.ts';
import { lastcall } from './support/program.ts';

const COMMANDS = [
  ...['dev', 'start', 'init', 'run', 'replay', 'fork', 'record', 'eval add', 'keys create', 'keys list', 'keys revoke'],
  ...['grants list', 'grants revoke', 'search'],
  ...['projects create', 'projects delete', 'projects list', 'projects update'],
  ...['notify list', 'notify retry', 'notify targets', 'notify test'],
  ...['tools list', 'tools test', 'usage', 'audit', 'export', 'erase', 'doctor', 'open', 'demo crash'],
];

/** The commands that can be run, with all their words. */
function commandsOf(command: Command, path: readonly string[] = []): readonly (readonly [string, Command])[] {
  return command.commands.flatMap((one) => {
    const words = [...path, one.name()];
    return one.commands.length > 0 ? commandsOf(one, words) : [[words.join(' '), one] as const];
  });
}

test('[S12] there are these commands, and each has --json, --help and a description', () => {
  const known = commandsOf(createProgram()).filter(([name]) => name !== 'demo gateway');
  expect(known.map(([name]) => name).sort()).toEqual(COMMANDS.toSorted());
  for (const [name, command] of known) {
    expect(command.helpInformation()).toContain(`Usage: lastcall ${name}`);
    expect(command.helpInformation()).toContain('--json');
    expect(command.helpInformation()).toContain('--help');
    expect(command.description()).toMatch(/\.$/);
  }
});

test.each([
  { args: ['start', '--port', 'abc'], option: '--port' },
  { args: ['dev', '--port', '65536'], option: '--port' },
  { args: ['search', 'x', '--limit', '0'], option: '--limit' },
  { args: ['usage', '--by', 'foo'], option: '--by' },
  { args: ['usage', '--from', 'soon'], option: '--from' },
  { args: ['run', 'Concierge', ''], option: 'task' },
  { args: ['record', 'Concierge', ' '], option: 'task' },
  { args: ['eval', '--last', '51'], option: '--last' },
  { args: ['eval', 'add', 'run', '--evaluation', 'A', '--file', 'b.json'], option: '--file' },
])('[S12] $args exits with 2 and names $option', async ({ args, option }) => {
  await using folder = await makeFolder();
  const { code, out, err } = await inProcess(args, { folder: folder.path });
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(new RegExp(`^error: .*${option}`));
});

test('[S12] the help of fork has an example with a whole id, because the first characters of one are not accepted', async () => {
  await using folder = await makeFolder();
  const { code, out } = await inProcess(['fork', '--help'], { folder: folder.path });
  expect(code).toBe(0);
  expect(out).toMatch(/^Example: lastcall fork [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12} --at 3 /m);
});

describe('as a process', { concurrent: true }, () => {
  test('[S12] --help prints the commands and the exit codes', async () => {
    await using folder = await makeFolder();
    const { code, out } = await lastcall(['--help'], { folder: folder.path });
    expect(code).toBe(0);
    for (const word of ['dev', 'start', 'run', 'replay', 'doctor', 'Exit codes: 0 done']) expect(out).toContain(word);
  });

  test.each([
    ['unknown command', ['strat']],
    ['missing required argument', ['keys', 'create']],
    ['is not JSON', ['tools', 'test', 'fetch_weather', '{city}']],
  ])('[S12] a command that is written wrongly exits with 2 and says: %s', async (sentence, args) => {
    await using folder = await makeFolder();
    const { code, out, err } = await lastcall(args, { folder: folder.path });
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(sentence);
  });
});
