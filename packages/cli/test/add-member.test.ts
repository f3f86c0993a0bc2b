import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addMember } from '../../create/src/json-object.ts';

const indent = fc.constantFrom(undefined, '\t', '  ', '    ');
const text = fc
  .tuple(fc.dictionary(fc.string(), fc.jsonValue()), fc.option(fc.dictionary(fc.string(), fc.jsonValue())), indent)
  .map(([rest, scripts, space]) => JSON.stringify(scripts === null ? rest : { ...rest, scripts }, undefined, space))
  .filter((one) => isObject(JSON.parse(one).scripts ?? {}));

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

test('[S15] a member is added to any JSON object, and all existing characters stay as they are', () => {
  fc.assert(
    fc.property(text, fc.constantFrom('\n', '\r\n'), (one, newline) => {
      const before = one.replaceAll('\n', newline);
      const after = addMember(before, { path: ['scripts'], key: 'a new key', value: 'x' });
      const given = JSON.parse(before);
      expect(JSON.parse(after)).toEqual({ ...given, scripts: { ...given.scripts, 'a new key': 'x' } });
      // Removing one piece of the new text gives the old text.
      const start = Array.from({ length: after.length }, (_, at) => at).findIndex((at) => after[at] !== before[at]);
      const length = after.length - before.length;
      const cuts = Array.from({ length: start + 1 }, (_, at) => after.slice(0, at) + after.slice(at + length));
      expect(cuts).toContain(before);
    }),
  );
});
