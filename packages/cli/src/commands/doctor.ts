import type { Command } from 'commander';
import { consoleToStderr } from '../console-to-stderr.ts';
import { EXIT } from '../exit-code.ts';
import { loadEnv } from '../load-env.ts';
import { hookModules } from '../module-hooks.ts';
import { createOutput } from '../terminal/output.ts';
import { type ApiCommandOptions, apiOptions } from './api-options.ts';

export function addDoctor(program: Command): void {
  apiOptions(program.command('doctor'))
    .description('Check this folder and its gateway, and say what to do about what is wrong.')
    .addHelpText('after', '\nThe exit code is 1 if something is wrong that keeps agents from working.')
    .action(doctor);
}

async function doctor({ url, json }: ApiCommandOptions): Promise<void> {
  loadEnv(process.cwd());
  hookModules();
  consoleToStderr();
  const { examine } = await import('../examine.ts');
  const findings = await examine({ folder: process.cwd(), url });
  const words = findings.map(({ level, text }) => `${level === 'fail' ? 'FAIL' : level.padEnd(4)}  ${text}`);
  createOutput({ json }).result(findings, words.join('\n'));
  process.exitCode = findings.some(({ level }) => level === 'fail') ? EXIT.failed : EXIT.done;
}
