import { expect, test } from 'vitest';
import { linkPackages, makeFolder } from './support/folder.ts';
import { lastcall } from './support/program.ts';

const CONFIG = `import { scriptedModel } from '@lastcall/core/testing';
console.log('The configuration speaks.');
export default { models: { m: scriptedModel(() => 'Yes.') }, model: 'm', agents: [{ name: 'Desk', instructions: 'x' }] };
`;
const EVAL = `import { contains, evaluate } from '@lastcall/core/eval';
console.info('The evaluation speaks.');
await evaluate({ run: () => 'Yes.', cases: [{ input: 1 }], scores: { yes: contains('yes') } });
`;

test.each([
  { args: ['doctor', '--json'], said: 'The configuration speaks.' },
  { args: ['record', 'Desk', 'Are you there?', '--json'], said: 'The configuration speaks.' },
  { args: ['eval', '--json'], said: 'The evaluation speaks.' },
])('[S12] standard output of $args is JSON alone, whatever the files that it loads print', async ({ args, said }) => {
  await using folder = await makeFolder({ 'lastcall.config.mjs': CONFIG, 'desk.eval.mjs': EVAL });
  await linkPackages(folder.path);
  const { code, out, err } = await lastcall(args, { folder: folder.path, env: { PORT: '0' } });
  expect(code).toBe(0);
  expect(() => JSON.parse(out)).not.toThrow();
  expect(err).toContain(said);
});
