import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createArtifactFiles } from '../../src/ports/artifacts/artifact-files.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const SCRIPT = `
const { createArtifactFiles } = await import(process.argv[1]);
const files = createArtifactFiles(process.argv[2]);
await files.write('small', Buffer.from('small'));
const refused = await files.write('large', Buffer.alloc(1_000_000)).catch((error) => error);
console.log(JSON.stringify({ code: refused.code, message: refused.message }));
`;

test('a file that the disk does not take is refused with the reason, leaves nothing behind, and others stay', async () => {
  const folder = await scratchFolder('artifacts');
  const module = new URL('../../src/ports/artifacts/artifact-files.ts', import.meta.url).href;
  // A limit for the size of files ends a write in its middle, as a full disk does, and needs no rights.
  const command = `ulimit -f 100; exec "$0" "$@"`;
  const node = ['--conditions=@lastcall/source', '--input-type=module', '--eval', SCRIPT, module, folder];
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const { stdout } = await promisify(execFile)('sh', ['-c', command, process.execPath, ...node], { env });
  expect(JSON.parse(stdout)).toEqual({
    code: 'artifact_store',
    message: 'The artifact could not be stored: the system does not allow a file of its size (ulimit -f).',
  });
  expect(await readdir(folder)).toEqual(['small']);
  const small = await createArtifactFiles(folder).read('small');
  expect(await new Response(small).text()).toBe('small');
});
