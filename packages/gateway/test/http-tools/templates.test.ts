import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readHttpExecution } from '../../src/config/http-execution.ts';
import type { ToolExecution } from '../../src/config/tool-config.ts';
import { type FilledRequest, requestTemplate } from '../../src/runtime/tools/http/request-template.ts';

const URL_BASE = 'https://api.test:8443/v1';

function fill(execution: ToolExecution, input: unknown, env: Readonly<Record<string, string>> = {}): FilledRequest {
  const secret = (name: string): string => {
    const value = env[name];
    if (value === undefined) throw new Error(`no ${name}`);
    return value;
  };
  return requestTemplate(readHttpExecution(execution))({ input, secret });
}

const bodyOf = (body: unknown, input: unknown, env = {}): unknown =>
  JSON.parse(fill({ url: URL_BASE, method: 'POST', body }, input, env).body ?? '');

/** Arbitrary text, including attempts to break out of a template. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc
    .array(
      fc.constantFrom(
        '/',
        '\\',
        '..',
        '.',
        '%2e',
        '%2F',
        '%5c',
        '%255C',
        '?',
        '#',
        '@',
        ':',
        '&',
        '=',
        '\r\n',
        '\0',
        ' ',
        'a',
        '//evil.test',
        ';',
        '{{input.b}}',
        '${env.KEY}',
        '\u{1f600}',
        '\ud800',
      ),
      { maxLength: 6 },
    )
    .map((pieces) => pieces.join('')),
);

/** The request, or undefined if the value was refused before anything was sent. */
function tryFill(execution: ToolExecution, input: unknown): FilledRequest | undefined {
  try {
    return fill(execution, input, { KEY: 'the-secret' });
  } catch (error) {
    expect((error as Error).name).toBe('ToolValidationError');
    return undefined;
  }
}

describe('a template', () => {
  test('[X4] is filled in one pass: what is inserted is never read as a template', () => {
    fc.assert(
      fc.property(hostile, hostile, (a, b) => {
        const body = { whole: '{{input.a}}', text: '<{{input.a}}|{{input.b}}|${env.KEY}>' };
        expect(bodyOf(body, { a, b }, { KEY: 'k{{input.a}}${env.KEY}' })).toEqual(
          JSON.parse(JSON.stringify({ whole: a, text: `<${a}|${b}|k{{input.a}}\${env.KEY}>` })),
        );
      }),
    );
  });

  test('[X4] placeholders inside input stay text, in every place', () => {
    const input = { a: '${env.KEY}', b: '{{input.a}}' };
    const request = fill(
      {
        url: `${URL_BASE}/{{input.a}}?q={{input.b}}`,
        headers: { 'x-a': '{{input.a}} {{input.b}}' },
        method: 'POST',
        body: '{{input.a}}{{input.b}}',
      },
      input,
      { KEY: 'the-secret' },
    );
    expect(request.url.href).toBe(`${URL_BASE}/%24%7Benv.KEY%7D?q=%7B%7Binput.a%7D%7D`);
    expect(request.headers['x-a']).toBe('${env.KEY} {{input.a}}');
    expect(request.body).toBe('${env.KEY}{{input.a}}');
  });

  test('[X5] one placeholder keeps the type of its value; inside text it is text', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const filled = bodyOf({ whole: '{{ input.value }}', text: 'is {{input.value}}' }, { value }) as {
          whole: unknown;
          text?: string;
        };
        expect(filled.whole).toEqual(JSON.parse(JSON.stringify(value)));
        expect(filled.text).toBe(
          value === null ? undefined : `is ${typeof value === 'string' ? value : JSON.stringify(value)}`,
        );
      }),
    );
    expect(bodyOf({ count: '{{input.count}}', all: '{{input}}' }, { count: 3 })).toEqual({
      count: 3,
      all: { count: 3 },
    });
  });

  test('[X5] a path leads through objects and lists, and only to own properties', () => {
    const body = {
      b: '{{input.list.1.name}}',
      c: '{{input.constructor.name}}',
      p: '{{input.__proto__}}',
      l: '{{input.list.length}}',
    };
    expect(bodyOf(body, { list: [{}, { name: 'x' }] })).toEqual({ b: 'x', l: 2 });
  });

  test('[X5] a missing value drops its field, header or parameter, and fails the call if the place is required', () => {
    const request = fill(
      {
        url: `${URL_BASE}/items?q={{input.q}}&limit=5&name=x{{input.name}}`,
        method: 'POST',
        headers: { 'X-Trace': '{{input.trace}}', Accept: 'text/plain' },
        body: {
          q: '{{input.q}}',
          nested: { gone: '{{input.gone}}', text: 'a {{input.gone}}' },
          list: ['{{input.gone}}', 1],
          none: null,
        },
      },
      {},
    );
    expect(request.url.search).toBe('?limit=5');
    expect(request.headers).toEqual({ 'content-type': 'application/json', accept: 'text/plain' });
    expect(JSON.parse(request.body ?? '')).toEqual({ nested: {}, list: [1], none: null });
    expect(() => fill({ url: `${URL_BASE}/{{input.id}}/x` }, {})).toThrow('input.id is missing');
    expect(() => fill({ url: `${URL_BASE}/{{input.id}}/x` }, { id: null })).toThrow('input.id is missing');
    expect(() => fill({ url: URL_BASE, body: '{{input.all}}' }, {})).toThrow('the body is missing');
    expect(() => fill({ url: URL_BASE, headers: { a: '${env.NONE}' } }, {})).toThrow('no NONE');
  });
});

describe('in a URL', () => {
  test('[X6] no input reaches scheme, host, port, credentials, the structure of the path or another parameter', () => {
    fc.assert(
      fc.property(hostile, hostile, (a, q) => {
        const request = tryFill(
          { url: `${URL_BASE}/items/{{input.a}}/x-{{input.a}}.json?q={{input.q}}&k=1` },
          { a, q },
        );
        if (request === undefined) return;
        const { url } = request;
        expect([url.origin, url.username, url.password, url.hash]).toEqual(['https://api.test:8443', '', '', '']);
        const segments = url.pathname.split('/');
        expect(segments).toHaveLength(5);
        expect(segments.slice(0, 3)).toEqual(['', 'v1', 'items']);
        // The decoded text there is the value.
        expect(decodeURIComponent(segments[3] ?? '')).toBe(a.toWellFormed());
        expect(decodeURIComponent(segments[4] ?? '')).toBe(`x-${a.toWellFormed()}.json`);
        expect([...url.searchParams]).toEqual([
          ['q', q.toWellFormed()],
          ['k', '1'],
        ]);
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    '',
    '.',
    '..',
    '../admin',
    'a/../b',
    'a\\..\\b',
    '%2e%2e',
    '..%2fx',
    '%252e%252e%252fx',
    '..%5cx',
    'a%5C..',
    '%252e%252e%255cx',
    './x',
    'x/.',
    '.%2E',
    ' .. ',
  ])('[X6] %j as a value in the path is refused: a server might read it as a path segment', (id) => {
    expect(() => fill({ url: `${URL_BASE}/items/{{input.id}}/x` }, { id })).toThrow('path of the URL');
  });

  test('[X6] dots of two values cannot form a path segment', () => {
    expect(() => fill({ url: `${URL_BASE}/{{input.a}}{{input.a}}/x` }, { a: '.' })).toThrow('path of the URL');
    expect(() => fill({ url: `${URL_BASE}/.{{input.a}}/x` }, { a: '.' })).toThrow('path of the URL');
    expect(fill({ url: `${URL_BASE}/{{input.a}}` }, { a: '...' }).url.pathname).toBe('/v1/...');
    expect(fill({ url: `${URL_BASE}/{{input.a}}` }, { a: 'a/b' }).url.pathname).toBe('/v1/a%2Fb');
  });

  test('[X6] GET without a template sends the input as parameters, whatever is in it', () => {
    expect(
      fill({ url: `${URL_BASE}?a=1` }, { q: 'a&b=c', n: 3, list: ['x', 'y'], deep: { z: 1 }, none: null }).url.search,
    ).toBe('?a=1&q=a%26b%3Dc&n=3&list=x&list=y&deep=%7B%22z%22%3A1%7D');
    fc.assert(
      fc.property(
        fc.dictionary(
          hostile.map((key) => key.toWellFormed()),
          hostile,
        ),
        (input) => {
          const { url, body } = fill({ url: URL_BASE }, input);
          expect(url.origin + url.pathname).toBe(URL_BASE);
          expect(Object.fromEntries(url.searchParams)).toEqual(
            Object.fromEntries(Object.entries(input).map(([key, value]) => [key, value.toWellFormed()])),
          );
          expect(body).toBeUndefined();
        },
      ),
    );
    expect(fill({ url: `${URL_BASE}/{{input.id}}` }, { id: 1, q: 2 }).url.search).toBe('');
  });

  test('[X6] other methods without a body send the input as JSON', () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const request = fill({ url: `${URL_BASE}/{{input.id}}`, method }, { id: 1, q: [2] });
      expect(request).toMatchObject({
        method,
        body: '{"id":1,"q":[2]}',
        headers: { 'content-type': 'application/json' },
      });
    }
    expect(fill({ webhookUrl: URL_BASE }, { id: 1 })).toMatchObject({ method: 'POST', body: '{"id":1}' });
    expect(fill({ url: URL_BASE, body: 'Dear {{input.name}}' }, { name: 'Ada' })).toMatchObject({
      body: 'Dear Ada',
      headers: { 'content-type': 'text/plain; charset=utf-8' },
    });
  });
});

describe('in a header', () => {
  test('[X6] no input reaches another header, or another value', () => {
    fc.assert(
      fc.property(hostile, (value) => {
        const request = tryFill(
          { url: URL_BASE, method: 'POST', headers: { 'X-A': 'v={{input.value}}', 'X-B': 'b' }, body: {} },
          { value },
        );
        if (request === undefined) return;
        expect(Object.keys(request.headers)).toEqual(['content-type', 'x-a', 'x-b']);
        expect(request.headers['x-b']).toBe('b');
        expect(request.headers['x-a']).toBe(`v=${value}`.trim());
        expect(request.headers['x-a']).not.toMatch(/[\r\n\0]/);
      }),
    );
  });

  test.each(['a\r\nX-Evil: 1', 'a\nb', 'a\rb', 'a\0b', 'a\u0007b', '\u{1f600}'])('[X6] %j is refused', (value) => {
    expect(() => fill({ url: URL_BASE, headers: { 'X-A': '{{input.value}}' } }, { value })).toThrow(
      'header "x-a" must not contain',
    );
    expect(() => fill({ url: URL_BASE, headers: { 'X-A': '${env.KEY}' } }, {}, { KEY: value })).toThrow(
      'header "x-a" must not contain',
    );
  });
});
