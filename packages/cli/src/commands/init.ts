import type { Command } from 'commander';
import { CommandFailed } from '../exit-code.ts';
import { createOutput } from '../terminal/output.ts';

export function addInit(program: Command): void {
  program
    .command('init')
    .argument('[folder]', 'where; it is created if it does not exist', '.')
    .description('Make a folder that works: a configuration, two tools, a test of them, and .env.')
    .option('--json', 'print what was made as JSON')
    .addHelpText(
      'after',
      '\nIn a folder that has files, it adds what is missing, says what it added and what it left as it is, and changes nothing else.',
    )
    .action(init);
}

async function init(folder: string, { json }: { json?: boolean }): Promise<void> {
  // Imported only here, because the other commands do not need it.
  const { createProject, ProjectRefused } = await import('create-lastcall');
  try {
    const project = await createProject(folder);
    createOutput({ json }).result(project, project.summary);
  } catch (error) {
    throw error instanceof ProjectRefused ? new CommandFailed(error.message, { cause: error }) : error;
  }
}
