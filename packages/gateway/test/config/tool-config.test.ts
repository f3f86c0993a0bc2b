import { jsonSchema } from '@lastcall/core';
import { describe, expect, test } from 'vitest';
import { check } from '../../src/config/config-problem.ts';
import { BUILT_IN_TOOL_NAMES } from '../../src/config/reserved-tool-names.ts';
import type { ToolConfig } from '../../src/config/tool-config.ts';
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

  test('[G26] a space tool that is not visible is refused when it is configured', () => {
    expect(problems({ ...confirm, visible: true })).toEqual([]);
    expect(problems({ ...confirm, visible: false })).toEqual([expect.stringMatching(/^visible must not be false/)]);
  });

  test('[G28] space tools and external tools without a URL wait for an answer', () => {
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
  test('an accepted configuration is accepted again, unchanged', () => {
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

  test('[X1] the display may also be inside execution, but not in both places', () => {
    const display = { customUI: 'confirmAction' };
    expect(parsed({ ...confirm, execution: { display } })).toMatchObject({ display });
    expect(parsed({ ...confirm, execution: { display } })).not.toHaveProperty('execution');
    expect(problems({ ...confirm, display, execution: { display } })).toEqual([
      expect.stringMatching(/^execution\.display is set twice/),
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
    'the name %j is refused, because providers refuse it',
    (name) => {
      expect(problems({ ...confirm, name })).toEqual([expect.stringMatching(/^name must/)]);
    },
  );

  test.each([
    ['an unknown field', { ...confirm, visable: true }, /^visable is unknown/],
    [
      'a missing type',
      { name: 'a' },
      /^executionType is missing: it must be "gateway", "external", "space" or "internal"\.$/,
    ],
    ['another type', { ...confirm, executionType: 'browser' }, /^executionType must be .* not "browser"/],
    ['a field of another type', { ...confirm, visible: 'yes' }, /^visible must be a boolean, not a string/],
    ['an empty description', { ...confirm, description: ' ' }, /^description must be 1–4096 characters/],
    ['a long description', { ...confirm, description: 'x'.repeat(4_097) }, /^description must be 1–4096 characters/],
    ['an input that is no object', { ...confirm, inputSchema: { type: 'string' } }, /^inputSchema cannot be used/],
    ['a malformed input schema', { ...confirm, inputSchema: { type: 'objekt' } }, /^inputSchema cannot be used/],
    ['a malformed result schema', { ...confirm, resultSchema: { type: 7 } }, /^resultSchema cannot be used/],
    ['a time that is none', { ...confirm, timeoutMs: 0 }, /^timeoutMs must be 1 or more/],
    ['a time beyond dates', { ...confirm, expiresInMs: 9e15 }, /^expiresInMs must be 315576000000 or less/],
    ['half a millisecond', { ...confirm, expiresInMs: 1.5 }, /^expiresInMs must be a whole number/],
    ['answerers that name nobody', { ...confirm, answerers: { roles: [] } }, /^answerers must name at least one/],
    ['a role that is no text', { ...confirm, answerers: { roles: [1] } }, /^answerers\.roles\[0\] must be a string/],
    ['no tool at all', null, /^ must be an object, not null/],
  ])('[X1] %s is refused with its path', (_what, config, expected) => {
    expect(problems(config)).toEqual([expect.stringMatching(expected)]);
  });

  test('[X1] [X3] gateway, external and internal tools may have a URL, and only external ones a webhook', () => {
    const url = 'https://api.example.com/{{input.id}}';
    for (const executionType of ['gateway', 'external', 'internal'])
      expect(problems({ name: 'a', executionType, execution: { url } })).toEqual([]);
    expect(problems({ name: 'a', executionType: 'external', execution: { webhookUrl: url } })).toEqual([]);
    expect(problems({ name: 'a', executionType: 'gateway', execution: { webhookUrl: url } })).toEqual([
      expect.stringMatching(/^execution\.webhookUrl is for "external" tools/),
    ]);
    expect(problems({ name: 'a', executionType: 'gateway' })).toEqual([expect.stringMatching(/^execution must be/)]);
    expect(problems({ name: 'a', executionType: 'external', execution: { method: 'GET' } })).toEqual([
      expect.stringMatching(/^execution must have a url/),
    ]);
  });

  test.each([
    ['url', 'ftp://a.test', /must be an http or https URL/],
    ['url', 'a.test', /must be an http or https URL/],
    ['url', 'https://', /must be an http or https URL/],
    ['url', 7, /must be a string, not a number/],
    ['url', 'https://user:pass@a.test/', /must not have credentials/],
    ['url', 'https://a.test/#x', /must not have a fragment/],
    ['url', 'https://{{input.host}}/x', /scheme, host and port written out/],
    ['url', 'https://a.test:{{input.port}}/x', /scheme, host and port written out/],
    ['url', 'https://a.test{{input.path}}', /scheme, host and port written out/],
    ['url', 'https://${env.HOST}/x', /scheme, host and port written out/],
    ['url', '{{input.url}}', /must be an http or https URL|written out/],
    ['url', 'https://a.test/{{inputs.id}}', /unknown placeholder \{\{inputs\.id\}\}/],
    ['url', 'https://a.test/{{input.id', /does not end/],
    ['url', 'https://a.test/${API_KEY}', /unknown placeholder/],
    ['method', 'TRACE', /must be "GET", /],
    ['headers.Host', { Host: 'b.test' }, /the gateway sets it/],
    ['headers["a b"]', { 'a b': 'x' }, /is not a valid header name/],
    ['headers["a{{input.x}}"]', { 'a{{input.x}}': 'x' }, /is not a valid header name/],
    ['headers["X-a"]', { 'x-A': '1', 'X-a': '2' }, /is set twice/],
    ['headers.a', { a: '${env.a-b}' }, /unknown placeholder/],
    ['headers.a', { a: 1 }, /must be a string/],
    ['body.a[0].b', { a: [{ b: '{{x}}' }] }, /unknown placeholder/],
    ['body["{{input.a}}"]', { '{{input.a}}': 1 }, /placeholder in its name/],
    ['body.a', { a: undefined }, /must be JSON/],
    ['timeout', 0, /must be 1 or more/],
    ['timeout', '30s', /must be a number/],
    ['signingSecret', 'whsec_abc', /must be "\$\{env\.NAME\}"/],
    ['agentConfig', {}, /is unknown/],
  ])('[X1] execution.%s of an HTTP tool that is %j is refused with its path', (path, value, expected) => {
    const [field = ''] = path.split(/[.[]/);
    const found = problems({
      name: 'a',
      executionType: 'gateway',
      execution: { url: 'https://a.test/', method: 'POST', [field]: value },
    });
    expect(found).toEqual([expect.stringMatching(expected)]);
    expect(found[0]?.startsWith(`execution.${path} `)).toBe(true);
  });

  test('[X1] a body that input could break out of, and one that GET would not send, are refused', () => {
    const http = (execution: object): unknown => ({
      name: 'a',
      executionType: 'gateway',
      execution: { url: 'https://a.test/', ...execution },
    });
    const headers = { 'Content-Type': 'application/json' };
    expect(problems(http({ headers, body: '{"q":"{{input.q}}"}' }))).toEqual([
      expect.stringMatching(/^execution\.body must be an object here/),
    ]);
    expect(problems(http({ headers, body: '{{input.q}}' }))).toEqual([]);
    expect(problems(http({ body: 'Dear {{input.name}}' }))).toEqual([]);
    expect(problems(http({ method: 'get', body: {} }))).toEqual([
      expect.stringMatching(/^execution\.body is not sent with GET/),
    ]);
    expect(problems({ ...(http({ timeout: 5 }) as object), timeoutMs: 5 })).toEqual([
      expect.stringMatching(/^timeoutMs is set twice/),
    ]);
  });

  test('[X1] regular expressions of a schema are not run, and a model still reads them', async () => {
    const evil = '^(a+)+$';
    const inputSchema = {
      type: 'object',
      properties: {
        // The name of a field, not a pattern.
        pattern: { type: 'string', pattern: evil, description: 'Letters.' },
        nested: { anyOf: [{ items: { not: { pattern: evil } } }, { $ref: '#/$defs/x' }] },
      },
      patternProperties: { [evil]: { type: 'number' } },
      additionalProperties: false,
      $defs: { x: { type: 'string', pattern: evil } },
      default: { pattern: evil },
    };
    const config = parsed({ ...confirm, inputSchema, resultSchema: { pattern: evil } }) as ToolConfig;
    expect(config).toMatchObject({
      inputSchema: {
        properties: { pattern: { type: 'string', description: `Letters. Pattern: ${evil}` } },
        additionalProperties: true,
        default: { pattern: evil },
      },
      resultSchema: { description: `Pattern: ${evil}` },
    });
    const { default: _data, ...keywords } = config.inputSchema;
    expect(JSON.stringify(keywords)).not.toMatch(/"pattern":"|patternProperties/);
    const validate = (value: unknown): unknown => jsonSchema(config.inputSchema)['~standard'].validate(value);
    // With the pattern the check would take longer than the age of the universe.
    expect(await validate({ pattern: `${'a'.repeat(60)}!`, other: 1 })).toEqual({
      value: { pattern: `${'a'.repeat(60)}!`, other: 1 },
    });
  });

  test('[X1] a $ref to another document is refused, and not fetched', () => {
    expect(
      problems({ ...confirm, inputSchema: { type: 'object', properties: { a: { $ref: 'http://127.0.0.1:9/x' } } } }),
    ).toEqual([expect.stringMatching(/^inputSchema cannot be used/)]);
  });

  test('[X1] a schema that is nested infinitely is refused', () => {
    let schema: object = {};
    for (let depth = 0; depth < 100_000; depth++) schema = { not: schema };
    expect(problems({ ...confirm, inputSchema: schema })).toEqual([
      expect.stringMatching(/^inputSchema cannot be used/),
    ]);
  });

  test('[X26] a pattern is removed wherever a reference leads, and data that only resembles one is kept', () => {
    const evil = '^(a+)+$';
    const inputSchema = {
      type: 'object',
      properties: { a: { $ref: '#/x-note/p~1q' }, b: { $ref: '#/default/p' } },
      'x-note': { 'p/q': { pattern: evil, items: { pattern: evil } }, kept: { pattern: evil } },
      default: { p: { pattern: evil }, kept: { pattern: evil } },
    };
    expect(parsed({ ...confirm, inputSchema })).toMatchObject({
      inputSchema: {
        'x-note': { 'p/q': { description: `Pattern: ${evil}`, items: { description: `Pattern: ${evil}` } } },
        default: { p: { description: `Pattern: ${evil}` }, kept: { pattern: evil } },
      },
    });
  });

  test('[X29] a schema with more than 10,000 values is refused', () => {
    const values = Array.from({ length: 10_000 }, (_, index) => index);
    for (const field of ['inputSchema', 'resultSchema'])
      expect(problems({ ...confirm, [field]: { type: 'object', enum: values } })).toEqual([
        expect.stringMatching(`^${field} cannot be used: The JSON Schema has more than 10,000 values`),
      ]);
  });

  test('an internal tool has a value, which must be JSON', () => {
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

  test('settings of waiting calls are refused for tools whose calls never wait', () => {
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

  test('[R14] a tool whose calls wait for an answer cannot be terminal', () => {
    const refusal = [expect.stringMatching(/^terminal must not be true: every call of this tool waits/)];
    expect(problems({ ...confirm, terminal: true })).toEqual(refusal);
    expect(problems({ name: 'job', executionType: 'external', terminal: true })).toEqual(refusal);
    const execution = { url: 'https://a.test/' };
    expect(problems({ name: 'job', executionType: 'external', execution, terminal: true })).toEqual([]);
    expect(problems({ ...confirm, terminal: false })).toEqual([]);
    // Once approved, the call runs: see docs/terminal-tools.md.
    expect(problems({ ...lookup, approval: true, terminal: true })).toEqual([]);
  });

  test('[X3] a constant and a text take a timeout like every other kind', () => {
    for (const execution of [{ value: 1 }, { template: 'Done.' }]) {
      const withTimeout = (timeout: unknown, more: object = {}) =>
        problems({ ...lookup, execution: { ...execution, timeout }, ...more });
      expect(withTimeout(30_000)).toEqual([]);
      expect(withTimeout(0)).toEqual(['execution.timeout must be 1 or more.']);
      expect(withTimeout(1, { timeoutMs: 1 })).toEqual([expect.stringMatching(/^timeoutMs is set twice/)]);
    }
  });

  const completes = {
    ...{ name: 'complete', executionType: 'internal' },
    inputSchema: { type: 'object', properties: { result: { type: 'string' } }, required: ['result'] },
  };
  const withTemplate = (template: unknown, more: object = {}) =>
    problems({ ...completes, execution: { template, ...more } });

  test('a tool may return a text with values of its input', () => {
    expect(withTemplate('Task completed: {{input.result}}')).toEqual([]);
    expect(withTemplate('Done. {"{": 1} costs $5')).toEqual([]);
    expect(problems({ ...completes, executionType: 'gateway', execution: { template: '{{ input.result }}' } })).toEqual(
      [],
    );
    // Other keywords may add the property.
    const open = { ...completes, inputSchema: { type: 'object', properties: {}, anyOf: [{ required: ['result'] }] } };
    expect(problems({ ...open, execution: { template: '{{input.result}}' } })).toEqual([]);
  });

  test.each([
    ['{{result}}', 'execution.template has an unknown placeholder {{result}}. Write {{input.path}}.'],
    ['{{input.result', 'execution.template has a placeholder that does not end. Close it with }} or }.'],
    ['Key: ${env.KEY}', /^execution\.template must not contain \$\{env\.NAME\}/],
    [
      '{{input.reslut}} {{input.result}}',
      'execution.template uses {{input.reslut}}, but inputSchema has only "result". Add "reslut" to its properties.',
    ],
    ['', /^execution\.template must be a text of 1–100,000 characters/],
    [7, /^execution\.template must be a text/],
    ['x'.repeat(100_001), /^execution\.template must be a text/],
  ])('the template %j is refused with the reason', (template, expected) => {
    const reason = typeof expected === 'string' ? expected : expect.stringMatching(expected);
    expect(withTemplate(template)).toEqual([reason]);
  });

  test('a template needs the properties that it uses, and excludes a value', () => {
    const { inputSchema: _schema, ...bare } = completes;
    expect(problems({ ...bare, execution: { template: '{{input.result}}' } })).toEqual([
      'execution.template uses {{input.result}}, but inputSchema has no properties. Add "result" to its properties.',
    ]);
    expect(withTemplate('Done.', { url: 'https://a.test/' })).toEqual([
      'execution.url is not allowed together with template. Remove it.',
    ]);
  });

  test('a placeholder in a value is refused, because it would be returned unchanged', () => {
    const withValue = (value: unknown) => problems({ ...completes, execution: { value } });
    expect(withValue({ said: ['Task completed: {{ input.result }}'] })).toEqual([
      'execution.value contains {{ input.result }}, but a value is returned as it is. Use { template: "…" } for a text with values of the input.',
    ]);
    expect(withValue('${env.KEY}')).toEqual([expect.stringMatching(/contains \$\{env\.KEY\}.*Remove it\.$/)]);
    expect(withValue('Write {{name}} for a name, and ${x}.')).toEqual([]);
  });
});
