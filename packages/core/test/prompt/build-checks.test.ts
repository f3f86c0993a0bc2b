import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Section, type SectionDefinition, section } from '../../src/contract/section.ts';
import { PromptValidationError } from '../../src/errors.ts';
import { prompt } from '../../src/prompt/build-prompt.ts';
import { RESERVED } from '../../src/prompt/reserved-names.ts';
import { slice } from '../../src/session/slice.ts';
import { echo } from './echo.ts';

const part = (key: string, rest: Partial<SectionDefinition> = {}): Section =>
  section({ key, title: key || 'none', template: '', ...rest });
const build = (...sections: Section[]) => prompt({ ns: 'tests', key: 'p', sections });

/** The error that building throws. */
function refusal(make: () => unknown): PromptValidationError {
  try {
    make();
  } catch (error) {
    expect(error).toBeInstanceOf(PromptValidationError);
    return error as PromptValidationError;
  }
  throw new Error('It was built.');
}

describe('[T42] a tool name used twice fails the build', () => {
  test('in two sections of one level, naming both and the tool', () => {
    const { message, code } = refusal(() =>
      build(part('a', { tools: { find: echo } }), part('b', { tools: { find: echo } })),
    );
    expect(message).toMatch(/"b".*"find".*"a"/);
    expect(code).toBe('prompt_validation');
  });

  test('anywhere in the tree, also where one of them is disabled or only a summary', () => {
    const hidden = part('hidden', {
      enabled: false,
      children: [part('deep', { tools: { find: echo }, visibility: 'summary', summary: 'Deep.' })],
    });
    expect(refusal(() => build(hidden, part('b', { tools: { find: echo } }))).message).toMatch(
      /"b".*"find".*"hidden\.deep"/,
    );
    const never = part('never', { enabled: () => false, tools: { find: echo } });
    expect(refusal(() => build(part('b', { tools: { find: echo } }), never)).message).toContain('"never"');
  });

  test('in a section and its own child', () => {
    const child = part('child', { tools: { find: echo } });
    expect(refusal(() => build(part('a', { tools: { find: echo }, children: [child] }))).message).toContain(
      '"a.child"',
    );
  });
});

test('[T42] two siblings with one key fail the build; cousins may share it', () => {
  expect(refusal(() => build(part('a'), part('b'), part('a'))).message).toMatch(/"a".*siblings/);
  expect(refusal(() => build(part('top', { children: [part('x'), part('x')] }))).message).toContain('"top.x"');
  expect(() => build(part('a', { children: [part('x')] }), part('b', { children: [part('x')] }))).not.toThrow();
});

test.each(['a.b', '.', '', ' ', ' a', 'a ', 'a\nb'])('[T42] the key %j fails the build', (key) => {
  refusal(() => build(part(key)));
  refusal(() => build(part('top', { children: [part(key)] })));
});

test.each(['open_sections', 'read_section', 'rewind'])('[T42] the reserved tool name %j fails the build', (name) => {
  expect(RESERVED).toContain(name);
  expect(refusal(() => build(part('a', { children: [part('b', { tools: { [name]: echo } })] }))).message).toMatch(
    new RegExp(`"a\\.b".*"${name}"`),
  );
});

describe('[T42] a placeholder without a parameter fails the build', () => {
  test.each<[string, Partial<SectionDefinition>]>([
    ['without parameters', { template: 'Hello {{who}}' }],
    ['in a summary', { template: '', visibility: 'summary', summary: 'About {{who}}' }],
    ['beside default values', { template: '{{name}} {{who}}', params: { name: 'Ada' } }],
    ['beside a schema', { template: '{{name}} {{who}}', params: z.object({ name: z.string() }) as never }],
    ['beside a JSON Schema', { template: '{{who}}', params: { type: 'object', properties: { name: {} } } }],
    ['with space in it', { template: '{{ who }}' }],
    ['named as what every object has', { template: '{{constructor}} {{who}}', params: { who: 1 } }],
  ])('%s', (_case, rest) => {
    expect(refusal(() => build(part('top', { children: [part('greet', rest)] }))).message).toContain('"top.greet"');
  });

  test('a path into a parameter is not a parameter', () => {
    const { message } = refusal(() => build(part('a', { template: '{{user.name}}', params: { user: 'Ada' } })));
    expect(message).toContain('{{user.name}}');
  });

  test("a parameter of another section is not this section's", () => {
    refusal(() => build(part('a', { params: { who: 'Ada' }, children: [part('b', { template: '{{who}}' })] })));
  });

  test('also in a disabled section', () => {
    refusal(() => build(part('a', { enabled: false, template: '{{who}}' })));
  });
});

test('a tool that cannot work fails the build, naming section and tool', () => {
  expect(refusal(() => build(part('a', { tools: [echo] as never }))).message).toContain('an array');
  expect(refusal(() => build(part('a', { tools: { 'not a name': echo } }))).message).toMatch(/"a".*"not a name"/);
  expect(refusal(() => build(part('a', { tools: { find: { ...echo, timeoutMs: -1 } } }))).message).toMatch(
    /"a".*"find".*timeoutMs/,
  );
});

test.each<[string, object]>([
  ['title', { title: ' ' }],
  ['title', { title: 'two\nlines' }],
  ['template', { template: 1 }],
  ['params', { params: 'name' }],
  ['slices', { slices: [{ name: 'x' }] }],
  ['enabled', { enabled: 'yes' }],
  ['visibility', { visibility: 'hidden' }],
  ['summary', { summary: '' }],
  ['summary', { visibility: 'summary' }],
  ['summary', { visibility: () => 'full' }],
  ['children', { children: {} }],
  ['policies', { policies: [{}] }],
])('a wrong %s is refused by section() and in a spread copy by prompt()', (field, wrong) => {
  expect(refusal(() => section({ key: 'a', title: 'A', template: '', ...wrong } as never)).message).toMatch(
    new RegExp(`"a".*${field}`),
  );
  const copy = { ...part('a'), ...wrong } as Section;
  expect(refusal(() => build(part('top', { children: [copy] }))).message).toMatch(new RegExp(`"top\\.a".*${field}`));
});

test('a value that is not a section, not a prompt or not a schema of an object is refused', () => {
  for (const wrong of [null, undefined, 'text', 1]) {
    refusal(() => section(wrong as never));
    refusal(() => build(wrong as never));
    refusal(() => prompt(wrong as never));
  }
  refusal(() => prompt({ ns: '', key: 'p', sections: [] }));
  refusal(() => prompt({ ns: 'n', key: ' ', sections: [] }));
  refusal(() => prompt({ ns: 'n', key: 'p', sections: {} as never }));
  expect(refusal(() => build(part('a', { params: z.string() as never }))).message).toContain('params');
});

test('two different slices with one name fail the build', () => {
  const [one, other] = [slice('notes', { initial: 0, on: {} }), slice('notes', { initial: 0, on: {} })];
  expect(refusal(() => build(part('a', { slices: [one] }), part('b', { slices: [other] }))).message).toContain(
    '"notes"',
  );
  expect(() => build(part('a', { slices: [one] }), part('b', { slices: [one] }))).not.toThrow();
});

test('a section is a frozen plain object, and a spread copy with another key is a section again', () => {
  const one = part('a', { template: 'Text.' });
  expect(Object.isFrozen(one)).toBe(true);
  expect(build(one, { ...one, key: 'b' }).render().system).toBe('## a\n\nText.\n\n## a\n\nText.');
});
