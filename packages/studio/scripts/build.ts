// Builds the studio into dist/, with each file compressed beside it: the gateway sends what a browser accepts.
// With `--if-newer` it does nothing while dist/ is newer than every source.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'vite';

const folder: string = join(import.meta.dirname, '..');
const client: string = join(folder, '..', 'client', 'src');

if (!process.argv.includes('--if-newer') || isStale()) await buildAll();

async function buildAll(): Promise<void> {
  // Tests start this with their own: what they see must be what users get.
  process.env.NODE_ENV = 'production';
  console.log('Building the studio …');
  // Tests start this with another value, and would get the slow React that warns.
  process.env.NODE_ENV = 'production';
  await build({ configFile: join(folder, 'vite.config.ts'), logLevel: 'error' });
  for (const file of filesIn(join(folder, 'dist'))) {
    if (!/\.(js|css|html|svg)$/.test(file)) continue;
    const content = readFileSync(file);
    writeFileSync(`${file}.br`, brotliCompressSync(content));
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  }
}

function isStale(): boolean {
  const built = newest([join(folder, 'dist', 'index.html.gz')]);
  const sources = ['index.html', 'vite.config.ts', 'package.json'].map((name) => join(folder, name));
  return (
    newest([...sources, ...['src', 'public'].flatMap((name) => filesIn(join(folder, name))), ...filesIn(client)]) >
    built
  );
}

function filesIn(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function newest(files: readonly string[]): number {
  return Math.max(0, ...files.map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0));
}
