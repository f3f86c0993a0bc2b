// Checks types, style and unused code side by side: one after the other, they leave a core idle most of the time.
import { spawn } from 'node:child_process';
import { totalmem } from 'node:os';

// Two projects at a time, each checked by one thread: several threads that check one project work out the same types again.
const COMMANDS = ['tsc -b --checkers 1 --builders 2', 'biome check --error-on-warnings', 'knip'];

/** `tsc` is a Go program. Where there is memory for it, its garbage is collected only when it holds 3 GB. */
const ENV = totalmem() > 8e9 ? { GOGC: 'off', GOMEMLIMIT: '3GiB', ...process.env } : process.env;

const codes = await Promise.all(COMMANDS.map(run));
process.exitCode = codes.some((code) => code !== 0) ? 1 : 0;

/** Runs the command and prints what it said, undivided, when it has ended. Resolves with its exit code. */
async function run(command) {
  const { promise, resolve, reject } = Promise.withResolvers();
  const child = spawn(command, { shell: true, env: ENV, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => said.push(bytes));
  child.once('error', reject).once('close', (code) => resolve(code ?? 1));
  const code = await promise;
  process.stdout.write(`> ${command}\n${Buffer.concat(said)}`);
  return code;
}
