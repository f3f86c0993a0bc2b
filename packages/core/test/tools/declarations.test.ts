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
// One export without a type annotation for each function whose result a package may export, and for types of parameters.
const OTHERS = `
import {
  blocked, type BrokenInput, cache, configureTools, createBudget, createSession, dispatchCall, fail, memoryFilesystem,
  type Middleware, ok, pending, plan, planningSection, plugin, type Policy, prompt, readBeforeWrite, reply, replay,
  requires, resource, runTurn, secret, section, type Session, slice, streamTurn, tool, type ToolContext, Transcript,
  type TurnOptions, wrapToolSet,
} from '@lastcall/core';
import { buildModes } from '@lastcall/core/prompt';
export const results = { ok: () => ok(1), fail: () => fail('no'), blocked: () => blocked('no') };
export const more = { pending: () => pending(), reply: () => reply({ user: 'a', model: 'b' }), secret: () => secret('s') };
export const count = slice('count', { initial: 0, on: { Counted: (state) => state + 1 } });
export const clock = resource('clock', { create: () => ({ now: 0 }) });
export const session: Session = createSession({ slices: [count, plan], resources: [clock] });
export const saved = { snapshot: session.snapshot(), json: session.toJSON(), count: session.read(count) };
export const budget = createBudget({ tokens: 5 });
export const files = memoryFilesystem();
export const policies = [requires({ a: ['b'] }), readBeforeWrite()];
export const middleware = cache({ ttlMs: 5 });
export const part = section({ key: 'a', title: 'A', template: 'a' });
export const whole = prompt({ ns: 'n', key: 'k', sections: [part, planningSection()] });
export const rendered = whole.render({ session });
export const hello = plugin({ name: 'p', tools: () => ({}), getAgentConfig: () => ({ instructions: '', tools: {} }) });
export const modes = buildModes({ modes: ['main'], plugins: [hello], ctx: undefined });
const add = tool({ description: 'Adds.', inputSchema: { type: 'object' }, terminal: true, execute: () => 1 });
export const sets = [configureTools({ add }, { add: { timeoutMs: 5 } }), wrapToolSet({ add }, middleware)];
export const call = () => dispatchCall({ tools: { add }, call: { toolName: 'add' } });
export const turn = (model: Parameters<typeof runTurn>[0]['model']) => runTurn({ model, prompt: 'a', tools: { add } });
export const stream = (model: Parameters<typeof runTurn>[0]['model']) => streamTurn({ model, prompt: 'a', tools: { add } });
export const stored = new Transcript().toJSON();
export const parts = {
  resources: (ctx: ToolContext) => ctx.resources,
  problems: (broken: BrokenInput) => broken.problems,
  rules: (ctx: Parameters<Required<Policy>['beforeCall']>[1]) => [ctx],
  replies: (ask: () => ReturnType<Required<Middleware>['model']>) => ask(),
  steps: (step: Parameters<Required<TurnOptions>['onStepFinish']>[0]) => [step],
};
export const restored = { entries: new Transcript().entries, view: () => new Transcript().view(), replay };
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
  writeFileSync(join(directory, 'others.ts'), OTHERS);
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(TSCONFIG));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('the declaration files of a package that exports tools, or results of other functions, use only public names of core', async () => {
  await promisify(execFile)(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', directory]);
  const declared = readFileSync(join(directory, 'out/tools.d.ts'), 'utf8');
  expect(declared).toContain('export declare const plain: import("@lastcall/core").Tool<');
  expect(declared).toMatch(/const terminal: import\("@lastcall\/core"\)\.Tool<[^;]*> & \{\s*readonly terminal: true;/);
  expect(readFileSync(join(directory, 'out/others.d.ts'), 'utf8')).not.toMatch(/import\("[./]/);
});
