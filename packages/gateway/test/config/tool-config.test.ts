import { describe, expect, test } from 'vitest';
import { check } from '../../src/config/config-problem.ts';
import { BUILT_IN_TOOL_NAMES } from '../../src/config/reserved-tool-names.ts';
import { toolConfigSchema } from '../../src/config/tool-config-schema.ts';
import { isInteractive, isVisible } from '../../src/config/visibility.ts';

const confirm = { name: 'confirmAction', description: 'Ask somebody to confirm.', executionType: 'space' };
const lookup = { name: 'lookup', executionType: 'internal', execution: { value: { answer: 42 } } };

const problems = (config: unknown): string[] => {
  const result = check(toolConfigSchema, config);
  return result.ok ? [] : result.problems.map(({ path, message }) => `${path} ${message}`);
};

const parsed = (config: unknown): unknown => {
  const result = check(toolConfigSchema, config);
  return result.ok ? result.value : result.problems;
};

describe('visibility', () => {
  test('[G24] gateway, external and space tools are visible by default, internal ones are not', () => {
    const types = ['gateway', 'external', 'space', 'internal'] as const;
    expect(types.map((executionType) => isVisible({ executionType }))).toEqual([true, true, true, false]);
  });

  test('[G24] visible overrides the default, except that an internal tool is never shown', () => {
    expect(isVisible({ executionType: 'gateway', visible: false })).toBe(false);
    expect(isVisible({ executionType: 'external', visible: false })).toBe(false);
    expect(problems({ ...lookup, visible: true })).toEqual([]);
    expect(isVisible({ executionType: 'internal', visible: true })).toBe(false);
  });

  test('[G26] a space tool that nobody could see is refused when it is configured', () => {
    expect(problems({ ...confirm, visible: true })).toEqual([]);
    expect(problems({ ...confirm, visible: false })).toEqual([expect.stringMatching(/^visible must not be false/)]);
  });

  test('[G28] space tools and external ones without a URL wait for somebody', () => {
    expect(isInteractive({ executionType: 'space' })).toBe(true);
    expect(isInteractive({ executionType: 'external' })).toBe(true);
    expect(isInteractive({ executionType: 'external', execution: {} })).toBe(true);
    expect(isInteractive({ executionType: 'external', execution: { url: 'https://a.example' } })).toBe(false);
    expect(isInteractive({ executionType: 'external', execution: { webhookUrl: 'https://a.example' } })).toBe(false);
    expect(isInteractive({ executionType: 'internal' })).toBe(false);
    expect(isInteractive({ executionType: 'gateway' })).toBe(false);
  });
});

describe('a tool as data', () => {
  test('what was accepted once is accepted again, unchanged', () => {
    const once = parsed({ ...confirm, execution: { display: { customUI: 'x' } }, expiresInMs: 5 });
    expect(parsed(JSON.parse(JSON.stringify(once)))).toEqual(once);
  });

  test('[G54] a key that would set a prototype is an unknown field', () => {
    expect(problems(JSON.parse('{"name":"a","executionType":"space","__proto__":{"visible":false}}'))).toEqual([
      expect.stringMatching(/^__proto__ is unknown/),
    ]);
  });

  test('[X1] the description defaults to the name, the input to an object without properties', () => {
    expect(parsed({ name: 'confirmAction', executionType: 'space' })).toEqual({
      name: 'confirmAction',
      description: 'confirmAction',
      inputSchema: { type: 'object', properties: {}, additionalProperties: false },
      executionType: 'space',
    });
  });

  test('[X1] the display may also stand inside execution, once', () => {
    const display = { customUI: 'confirmAction' };
    expect(parsed({ ...confirm, execution: { display } })).toMatchObject({ display });
    expect(parsed({ ...confirm, execution: { display } })).not.toHaveProperty('execution');
    expect(problems({ ...confirm, display, execution: { display } })).toEqual([
      expect.stringMatching(/^execution\.display is said twice/),
    ]);
    expect(problems({ ...confirm, execution: { display: 'x' } })).toEqual([
      expect.stringMatching(/^execution\.display must be/),
    ]);
  });

  test('[G18] the names of built-in tools are refused', () => {
    expect(BUILT_IN_TOOL_NAMES).toHaveLength(10);
    for (const name of [...BUILT_IN_TOOL_NAMES, 'read_output']) {
      expect(problems({ ...confirm, name })).toEqual([expect.stringContaining(`name must not be "${name}"`)]);
    }
  });

  test.each(['', 'a b', 'ü', '12', '__proto__', 'x'.repeat(65)])(
    'the name %j is refused, since providers refuse it',
    (name) => {
      expect(problems({ ...confirm, name })).toEqual([expect.stringMatching(/^name must/)]);
    },
  );

  test.each([
    ['an unknown field', { ...confirm, visable: true }, /^visable is unknown/],
    ['a missing type', { name: 'a' }, /^executionType must be "gateway", "external", "space" or "internal", not/],
    ['another type', { ...confirm, executionType: 'browser' }, /^executionType must be .* not "browser"/],
    ['a field of another type', { ...confirm, visible: 'yes' }, /^visible must be a boolean, not a string/],
    ['an empty description', { ...confirm, description: ' ' }, /^description must be 1–200 characters/],
    ['a long description', { ...confirm, description: 'x'.repeat(201) }, /^description must be 1–200 characters/],
    ['an input that is no object', { ...confirm, inputSchema: { type: 'string' } }, /^inputSchema cannot be used/],
    ['a malformed input schema', { ...confirm, inputSchema: { type: 'objekt' } }, /^inputSchema cannot be used/],
    ['a malformed result schema', { ...confirm, resultSchema: { type: 7 } }, /^resultSchema cannot be used/],
    ['a time that is none', { ...confirm, timeoutMs: 0 }, /^timeoutMs must be 1 or more/],
    ['a time beyond dates', { ...confirm, expiresInMs: 9e15 }, /^expiresInMs must be 315576000000 or less/],
    ['half a millisecond', { ...confirm, expiresInMs: 1.5 }, /^expiresInMs must be a whole number/],
    ['answerers that name nobody', { ...confirm, answerers: { roles: [] } }, /^answerers must name somebody/],
    ['a role that is no text', { ...confirm, answerers: { roles: [1] } }, /^answerers\.roles\[0\] must be a string/],
    ['no tool at all', null, /^ must be an object, not null/],
  ])('[X1] %s is refused with its path', (_what, config, expected) => {
    expect(problems(config)).toEqual([expect.stringMatching(expected)]);
  });

  test('what is not supported yet is refused, and says what to do instead', () => {
    expect(problems({ name: 'a', executionType: 'gateway', execution: { url: 'https://a.example' } })).toEqual([
      expect.stringMatching(/^executionType .*are not supported yet: .*TypeScript/),
    ]);
    for (const key of ['url', 'webhookUrl']) {
      expect(problems({ name: 'a', executionType: 'external', execution: { [key]: 'https://a.example' } })).toEqual([
        expect.stringMatching(/^execution .*are not supported yet: .*tool-results/),
      ]);
    }
    expect(problems({ name: 'a', executionType: 'internal', execution: { agentConfig: {} } })).toEqual([
      expect.stringMatching(/^execution must be \{ value: … \}.*not supported yet/),
    ]);
  });

  test('an internal tool says a value, of JSON', () => {
    expect(parsed(lookup)).toMatchObject({ execution: { value: { answer: 42 } } });
    expect(problems({ ...lookup, execution: { value: null } })).toEqual([]);
    const endless: unknown[] = [];
    endless.push(endless);
    for (const value of [undefined, Number.NaN, [new Date()], { a: undefined }, () => 1, 1n, endless])
      expect(problems({ ...lookup, execution: { value } })).toEqual([
        expect.stringMatching(/^execution\.value must be JSON/),
      ]);
    expect(problems({ ...lookup, execution: { value: 1, url: 'x' } })).toEqual([
      expect.stringMatching(/^execution\.url is not allowed together with value/),
    ]);
    expect(problems({ name: 'a', executionType: 'internal' })).toEqual([expect.stringMatching(/^execution must be/)]);
  });

  test('settings of calls that wait are refused where none does', () => {
    expect(problems({ ...lookup, answerers: { roles: ['boss'] } })).toEqual([
      expect.stringMatching(/^answerers is for/),
    ]);
    expect(problems({ ...lookup, expiresInMs: 1_000 })).toEqual([expect.stringMatching(/^expiresInMs is for/)]);
    expect(problems({ ...lookup, resultSchema: {} })).toEqual([expect.stringMatching(/^resultSchema is for/)]);
    expect(problems({ ...confirm, approval: true })).toEqual([expect.stringMatching(/^approval must be absent/)]);
    expect(problems({ ...lookup, approval: true, answerers: { roles: ['boss'] }, expiresInMs: 1_000 })).toEqual([]);
    const settings = {
      answerers: { entities: ['e1'], roles: ['boss'] },
      expiresInMs: 1_000,
      resultSchema: { type: 'object' },
    };
    expect(parsed({ ...confirm, ...settings })).toMatchObject(settings);
  });
});
