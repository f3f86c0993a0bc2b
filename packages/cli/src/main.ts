import { createRequire } from 'node:module';
import { Command, CommanderError } from 'commander';
import { addAudit } from './commands/audit.ts';
import { addDemo } from './commands/demo.ts';
import { addDev } from './commands/dev.ts';
import { addDoctor } from './commands/doctor.ts';
import { addErase } from './commands/erase.ts';
import { addEval } from './commands/eval.ts';
import { addExport } from './commands/export.ts';
import { addFork } from './commands/fork.ts';
import { addGrants } from './commands/grants.ts';
import { addInit } from './commands/init.ts';
import { addKeys } from './commands/keys.ts';
import { addNotify } from './commands/notify.ts';
import { addOpen } from './commands/open.ts';
import { addProjects } from './commands/projects.ts';
import { addRecord } from './commands/record.ts';
import { addReplay } from './commands/replay.ts';
import { addRun } from './commands/run.ts';
import { addSearch } from './commands/search.ts';
import { addStart } from './commands/start.ts';
import { addTools } from './commands/tools.ts';
import { addUsage } from './commands/usage.ts';
import { CommandFailed, EXIT } from './exit-code.ts';
import { createOutput, withVisibleControls } from './terminal/output.ts';

/** Runs one command and returns its exit code. */
export async function main(args: readonly string[]): Promise<number> {
  let json = false;
  const program = createProgram().hook('preAction', (_, command) => {
    json = command.opts().json === true;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? EXIT.done);
  } catch (error) {
    return await fail(error, json);
  }
}

/** All commands, with their options and help. */
export function createProgram(): Command {
  const program = new Command('lastcall')
    .description('Runs agents whose tool calls settle exactly once.')
    .version(version())
    .showHelpAfterError('(see --help)')
    .addHelpText('after', HELP);
  for (const add of [
    addDev,
    addStart,
    addInit,
    addRun,
    addReplay,
    addFork,
    addRecord,
    addEval,
    addKeys,
    addGrants,
    addSearch,
    addProjects,
    addTools,
    addUsage,
    addAudit,
    addExport,
    addErase,
    addNotify,
    addDoctor,
    addOpen,
    addDemo,
  ])
    add(program);
  throwInsteadOfExit(program);
  return program;
}

function version(): string {
  // By the package's name, because the bundle of this file lies elsewhere.
  return (createRequire(import.meta.url)('lastcall/package.json') as { version: string }).version;
}

/** Commander would exit with 1 for a misspelt command. Our code for wrong usage is 2. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  command.commands.forEach(throwInsteadOfExit);
}

async function fail(error: unknown, json: boolean): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  if (error instanceof CommandFailed) {
    const { message, code, details } = error;
    // Without it, a program that reads the output would have to take an empty text for JSON.
    createOutput({ json }).result({ error: { code, message, details } }, '');
    process.stderr.write(`${withVisibleControls(message)}\n`);
    return error.exitCode;
  }
  // Imported only here, because commands that succeed do not need it.
  const [{ LastcallError }, { redactEnv }] = await Promise.all([import('@lastcall/core'), import('./redact-env.ts')]);
  // The messages of our own errors say what to do. A stack trace would hide that.
  const reason = error instanceof LastcallError ? error.message : String((error as Error)?.stack ?? error);
  const safe = redactEnv(reason);
  createOutput({ json }).result({ error: { message: safe } }, '');
  process.stderr.write(`${withVisibleControls(safe)}\n`);
  // Connections or timers of a failed start must not keep the process alive.
  process.exit(EXIT.failed);
}

const HELP = `
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no gateway answers or it does not allow this, 10 a limit was reached,
11 waits for an answer, 12 cancelled, 13 the model's reply was cut off or filtered, 130 interrupted.

Start here: lastcall init my-agent`;
