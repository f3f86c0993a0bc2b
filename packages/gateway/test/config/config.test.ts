import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkConfig } from '../../src/config/check-config.ts';
import { defineConfig } from '../../src/config/config.ts';
import { ConfigError } from '../../src/config/config-error.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { isVisible } from '../../src/config/visibility.ts';

const lookup = tool({ description: 'Looks things up.', inputSchema: { type: 'object' }, execute: () => 'found' });
const confirm = { executionType: 'space' } as const;
const agent = { name: 'Concierge', instructions: 'Help.' };

const refusal = (config: unknown): ConfigError => {
  try {
    checkConfig(config, 'lastcall.config.ts');
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('It was accepted.');
};

describe('a configuration', () => {
  test('may be empty', () => {
    expect(checkConfig({})).toEqual({
      agents: [],
      tools: {},
      hooks: {},
      notify: {},
      definitions: {},
      spaces: [],
      plans: [],
      projects: [],
      models: {},
      imageModels: {},
      prices: {},
      modelFiles: {},
      currency: 'USD',
      secrets: [],
      egress: { allow: [] },
      artifacts: {},
      limits: {},
      retention: {},
      corsOrigins: [],
      tracing: { texts: false },
      mcpServer: { tools: true, agents: true },
    });
  });

  test('[G24] a tool written in TypeScript runs in the gateway, so it is visible unless its settings say otherwise', () => {
    const { tools } = checkConfig(
      defineConfig({
        tools: {
          plain: lookup,
          hidden: { tool: lookup, visible: false },
          inner: { tool: lookup, executionType: 'internal', visible: true },
          confirm,
        },
      }),
    );
    expect(Object.values(tools).map((one) => [one.kind, one.name, isVisible(one)])).toEqual([
      ['typescript', 'plain', true],
      ['typescript', 'hidden', false],
      ['typescript', 'inner', false],
      ['configured', 'confirm', true],
    ]);
    expect(tools.plain).toMatchObject({ tool: lookup, executionType: 'gateway' });
    expect(tools.plain?.kind === 'typescript' && tools.plain.tool).toBe(lookup);
  });

  test('tools as data may be a list', () => {
    const { tools } = checkConfig({
      tools: [
        { ...confirm, name: 'a' },
        { ...confirm, name: 'b' },
      ],
    });
    expect(Object.keys(tools)).toEqual(['a', 'b']);
    expect(
      refusal({
        tools: [
          { ...confirm, name: 'a' },
          { ...confirm, name: 'a' },
        ],
      }).path,
    ).toBe('tools[1].name');
    expect(refusal({ tools: [{ ...confirm, name: 'a' }, { ...confirm }] }).path).toBe('tools[1].name');
  });

  test('egress.allow takes hosts, ports and ranges of addresses', () => {
    const allow = [
      'a.test',
      'A.test:8080',
      '10.1.2.3',
      '10.1.2.0/24:8080',
      '[fd00::1]',
      '[fd00::]/8:443',
      'bücher.test',
    ];
    expect(checkConfig({ egress: { allow } }).egress.allow).toEqual(allow);
  });

  test.each([
    ...['http://a.test', 'a.test/x', '10.0.0.0/33', '[::1]/129', 'a.test:0', 'a.test:70000', 'fd00::1', '0x7f.1'],
    ...['u@a.test', 'a b', '*.a.test', '[::1', ''],
  ])('%j as an allowed host is refused with its path', (rule) => {
    const error = refusal({ egress: { allow: ['a.test', rule] } });
    expect(error.path).toBe('egress.allow[1]');
    expect(error.message).toMatch(/must be "host", "host:port" or a range/);
  });

  test('custom models are kept unchanged', () => {
    const mine = scriptedModel([]);
    expect(checkConfig({ models: { mine } }).models.mine).toBe(mine);
    expect(refusal({ models: { mine: 'gpt' } }).message).toContain('models.mine must be a language model');
  });

  test.each([
    ['a list', [], '', /must export a configuration, not an array/],
    ['a promise', Promise.resolve({}), '', /must not export a promise/],
    ['an object of a class', new Map(), '', /must export a plain object/],
    ['a function', () => ({}), '', /must export a configuration, not function/],
    ['an unknown field', { agent: [] }, 'agent', /is unknown/],
    ['agents by name', { agents: {} }, 'agents', /must be an array, not an object/],
    ['an agent that is wrong', { agents: [agent, { ...agent, name: 7 }] }, 'agents[1].name', /must be a string/],
    ['an agent twice', { agents: [agent, agent] }, 'agents[1].name', /"Concierge" a second time/],
    ['a built-in name', { tools: { send_message: lookup } }, 'tools.send_message', /every agent has a built-in tool/],
    ['a name that is none', { tools: { 'a b': lookup } }, 'tools["a b"]', /must be 1–64 characters/],
    ['no tool', { tools: { a: 7 } }, 'tools.a', /must be a tool/],
    ['an empty tool', { tools: { a: {} } }, 'tools.a', /must be a tool/],
    [
      'a tool that nobody runs',
      { tools: { a: tool({ description: 'x', inputSchema: { type: 'object' } }) } },
      'tools.a',
      /has no execute/,
    ],
    [
      'a tool with an unknown setting',
      { tools: { a: { tool: lookup, visable: false } } },
      'tools.a.visable',
      /is unknown/,
    ],
    ['a tool under another name', { tools: { a: { ...confirm, name: 'b' } } }, 'tools.a.name', /must equal its key/],
    ['a tool named otherwise', { tools: { a: { tool: { ...lookup, name: 'b' } } } }, 'tools.a.tool', /cannot be used/],
    [
      '[G26] a hidden space tool',
      { tools: { a: { ...confirm, visible: false } } },
      'tools.a.visible',
      /must not be false/,
    ],
    [
      'a space for a stranger',
      { agents: [agent], spaces: [{ name: 's', agents: ['X'] }] },
      'spaces[0].agents[0]',
      /Its agents: "Concierge"/,
    ],
    [
      'a tool that is there twice',
      { agents: [{ ...agent, tools: [{ ...confirm, name: 'a' }] }], tools: { a: lookup } },
      'agents[0].tools[0].name',
      /also a tool under tools/,
    ],
    ['a price below zero', { prices: { m: { input: -1, output: 1 } } }, 'prices.m.input', /must be 0 or more/],
    ['a secret that is no name', { secrets: ['sk-1'] }, 'secrets[0]', /name of an environment variable/],
    ['a port that is none', { port: 70_000 }, 'port', /0 to 65535/],
    ['an origin with a path', { corsOrigins: ['https://a.example/b'] }, 'corsOrigins[0]', /origin without a path/],
    ['a plugin, which would not be used,', { plugins: [{}] }, 'plugins', /plugins belong to a definition/],
    ['a limit that is none', { limits: { agent: { maxSteps: -1 } } }, 'limits.agent.maxSteps', /1 or more/],
  ])('%s is refused with file, path and what to do', (_what, config, path, expected) => {
    const error = refusal(config);
    expect(error.code).toBe('config');
    expect(error.path).toBe(path);
    expect(error.message).toMatch(expected);
    expect(error.message).toContain(path === '' ? 'lastcall.config.ts ' : `lastcall.config.ts: ${path} `);
  });

  test('all problems are reported at once', () => {
    expect(refusal({ port: -1, agents: [{}], tools: { a: 1 } }).problems.map(({ path }) => path)).toEqual([
      'port',
      'agents[0].name',
      'agents[0].instructions',
      'tools.a',
    ]);
  });
});

describe('a configuration file', () => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'lastcall-config-'));
  });
  afterAll(() => rm(root, { recursive: true }));

  const directoryWith = async (name: string, text: string): Promise<string> => {
    const directory = await mkdtemp(join(root, 'd-'));
    await writeFile(join(directory, name), text);
    return directory;
  };

  test('that does not exist is an empty configuration', async () => {
    expect(await loadConfig(join(root, 'nowhere'))).toEqual({ file: undefined, config: checkConfig({}) });
  });

  test.each(['ts', 'js', 'mjs'])('lastcall.config.%s is found and loaded', async (ext) => {
    const directory = await directoryWith(`lastcall.config.${ext}`, `export default { port: 4242 };`);
    const { file, config } = await loadConfig(directory);
    expect(file).toBe(join(directory, `lastcall.config.${ext}`));
    expect(config.port).toBe(4242);
  });

  test.each([
    ['a syntax error', 'export default {', /cannot be loaded/],
    ['a file that throws', 'throw new TypeError("no luck");', /cannot be loaded\. TypeError: no luck/],
    ['a file that throws no error', 'throw "no luck";', /cannot be loaded\. no luck/],
    ['an import that is not there', 'import "./missing.js"; export default {};', /cannot be loaded/],
    ['no default export', 'export const config = {};', /has no default export/],
    ['a wrong shape', 'export default { agents: 7 };', /: agents must be an array, not a number/],
    ['nothing', 'export default undefined;', /must export a configuration, not undefined/],
  ])('%s is reported with the file', async (_what, text, expected) => {
    const directory = await directoryWith('lastcall.config.mjs', text);
    const error = await loadConfig(directory).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).message).toMatch(expected);
    expect((error as ConfigError).message).toContain(join(directory, 'lastcall.config.mjs'));
  });

  test.each([
    ['a syntax error', 'export const tools =\n  ;', 2],
    ['syntax that Node cannot strip', '\nexport enum Tool { pay }', 2],
    ['an export that is not there', "\n\nimport { join } from './lastcall.config.ts';", 3],
    ['an error', 'const read = (): never => {\n  throw new Error("No luck.");\n};\nexport const tools = read();', 2],
  ])('%s in a file that it imports is reported with that file and the line', async (_what, text, line) => {
    const directory = await directoryWith('lastcall.config.ts', "import './the tools.ts';\nexport default {};");
    await writeFile(join(directory, 'the tools.ts'), text);
    await expect(loadConfig(directory)).rejects.toThrow(`(${join(directory, 'the tools.ts')}:${line})`);
  });

  test('an error whose text ends with a port is reported with the line that threw it', async () => {
    const text = "export default {};\nthrow new Error('connect ECONNREFUSED 127.0.0.1:5432');";
    const directory = await directoryWith('lastcall.config.ts', text);
    await expect(loadConfig(directory)).rejects.toThrow(
      `Error: connect ECONNREFUSED 127.0.0.1:5432 (${join(directory, 'lastcall.config.ts')}:2)`,
    );
  });

  test('an import that is not there is reported once, with the file that imports it', async () => {
    const directory = await directoryWith('lastcall.config.ts', "import './missing.ts';\nexport default {};");
    await expect(loadConfig(directory)).rejects.toThrow(
      /Cannot find module '.+missing\.ts' imported from .+lastcall\.config\.ts$/,
    );
  });
});
