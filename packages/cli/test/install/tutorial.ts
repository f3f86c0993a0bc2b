import { readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Program } from '../support/program.ts';
import { type Installed, repository } from './installed.ts';

/** A block of commands of the tutorial, and its result. */
export interface RunBlock {
  readonly commands: string;
  readonly exitCode: number;
  readonly printed: string;
  /** The output that the page shows below the block. */
  readonly promised: readonly string[];
}

export type Block =
  | { readonly kind: 'sh'; readonly text: string }
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  | { readonly kind: 'console'; readonly text: string };

/** Runs docs/tutorial.md from its first block to its last, in one bash, as a reader would. */
export async function runTutorial({ folder, nodes }: Installed): Promise<readonly RunBlock[]> {
  const port = await freePort();
  const blocks = blocksOf(await readFile(join(repository, 'docs/tutorial.md'), 'utf8'));
  const script = join(folder, 'tutorial.sh');
  await writeFile(script, blocks.map(toScript).join('\n').replaceAll('127.0.0.1:4100', `127.0.0.1:${port}`));
  // What `npm install` would put there. The packages are not in a registry yet.
  await symlink(join(folder, 'node_modules'), join(folder, 'installed'));
  await using program = new Program(['bash', script], { folder, node: nodes[24], env: { PORT: String(port) } });
  const { out } = await program.ended;
  return blocks.flatMap((block, index) => (block.kind === 'sh' ? [toRun(block.text, { blocks, index, out })] : []));
}

export function blocksOf(page: string): readonly Block[] {
  return Array.from(
    page.matchAll(/^```(sh|console|(?:ts|js) file=(\S+))\n(.*?)^```$/gms),
    ([, kind, name, text = '']): Block => {
      if (kind === 'sh' || kind === 'console') return { kind, text };
      return { kind: 'file', name: name ?? '', text };
    },
  );
}

/** The output of a block is between two marks; the second mark has its exit code. */
export function toScript(block: Block, index: number): string {
  if (block.kind === 'console') return '';
  if (block.kind === 'file') return `cat > ${block.name} <<'END_OF_FILE'\n${block.text}END_OF_FILE`;
  const commands = block.text
    .replace(/^npm install$/m, 'ln -s ../installed node_modules')
    .replace(/^npm install .*$/m, ':');
  return `{ ${commands}} 2>&1\necho "--- block ${index}: $? ---"`;
}

export function toRun(
  commands: string,
  { blocks, index, out }: { blocks: readonly Block[]; index: number; out: string },
): RunBlock {
  const before = out.split(`--- block ${index}: `)[0] ?? '';
  const printed = before.slice(before.lastIndexOf(' ---\n') + 1);
  const [, exitCode = '-1'] = new RegExp(`--- block ${index}: (\\d+) ---`).exec(out) ?? [];
  const next = blocks[index + 1];
  const promised = next?.kind === 'console' ? next.text.trim().split('\n') : [];
  return { commands, exitCode: Number(exitCode), printed, promised };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
