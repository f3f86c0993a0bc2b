import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toolNameProblem } from '../../src/config/reserved-tool-names.ts';
import { mcpToolName } from '../../src/runtime/tools/mcp/mcp-tool-name.ts';

test('[X14] plain names are unchanged, odd and long ones are shortened with a hash', () => {
  expect(mcpToolName('github-tools', 'list_prs')).toBe('github-tools__list_prs');
  expect(mcpToolName('web', 'search the web')).toMatch(/^web__search-the-web-[0-9a-f]{8}$/);
  expect(mcpToolName('web', 'x'.repeat(100))).toMatch(/^web__x{40,}-[0-9a-f]{8}$/);
  expect(mcpToolName('Größe & Maß', 'a')).toMatch(/^Gr-e-Ma-[0-9a-f]{8}__a-[0-9a-f]{8}$/);
});

const name = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', '_', '-', 'é', ' '), minLength: 1, maxLength: 12 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 120 }),
);

test('[X14] every name is valid, is not a built-in name, and belongs to one tool of one server', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(name, name), { minLength: 2, maxLength: 6 }), (pairs) => {
      const names = new Map(pairs.map(([server, tool]) => [JSON.stringify([server, tool]), mcpToolName(server, tool)]));
      for (const one of names.values()) expect([one, toolNameProblem(one)]).toEqual([one, undefined]);
      expect(new Set(names.values()).size).toBe(names.size);
    }),
    { numRuns: 2_000 },
  );
});
