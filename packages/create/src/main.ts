import { createProject } from './create-project.ts';
import { ProjectRefused } from './project-refused.ts';

/** Creates the folder that the arguments name, and returns the exit code. */
export async function main([folder = '.', ...rest]: readonly string[]): Promise<number> {
  if (folder === '--help' || folder === '-h') {
    process.stdout.write(HELP);
    return 0;
  }
  // Without this check, an option that does not exist would become the name of the folder.
  const unknown = [folder, ...rest].find((one) => one.startsWith('-')) ?? rest[0];
  if (unknown !== undefined) {
    process.stderr.write(`"${unknown}" is not understood. Nothing was written.\n${HELP}`);
    return 2;
  }
  try {
    const { summary } = await createProject(folder);
    process.stdout.write(`${summary}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof ProjectRefused)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

const HELP = `Usage: npm create lastcall [folder]

Makes a folder with an agent, two tools and a test of them. In a folder that has files, it adds what is missing and says what it left
as it is.
`;
