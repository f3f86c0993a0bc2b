import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../../..');
const MODULE = `
import { rewindTool, tool } from '@lastcall/core';
const inputSchema = { type: 'object' };
export const plain = tool({ description: 'Pings.', inputSchema, execute: () => 'pong' });
export const terminal = tool({ description: 'Answers.', inputSchema, terminal: true, execute: () => 'done' });
export const tools = { plain, terminal, rewindTool };
`;
const TSCONFIG = {
  extends: '../../tsconfig.base.json',
  compilerOptions: { composite: false, declaration: true, isolatedDeclarations: false, outDir: 'out', types: ['node'] },
  include: ['*.ts'],
};

// Below the repository, so that the packages are found; `dist` is ignored by git and by every check.
let directory: string;

beforeAll(() => {
  mkdirSync(join(root, 'dist'), { recursive: true });
  directory = mkdtempSync(join(root, 'dist/declarations-'));
  writeFileSync(join(directory, 'tools.ts'), MODULE);
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(TSCONFIG));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('a package that exports tools gets its declaration files, with no name that core keeps to itself', async () => {
  await promisify(execFile)(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', directory]);
  const declared = readFileSync(join(directory, 'out/tools.d.ts'), 'utf8');
  expect(declared).toContain('export declare const plain: import("@lastcall/core").Tool<');
  expect(declared).toMatch(/const terminal: import\("@lastcall\/core"\)\.Tool<[^;]*> & \{\s*readonly terminal: true;/);
});
