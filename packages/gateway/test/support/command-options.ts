import { type ParseArgsConfig, parseArgs } from 'node:util';

interface Given {
  readonly options: NonNullable<ParseArgsConfig['options']>;
  readonly allowPositionals?: boolean;
}

/**
 * Reads the arguments of a command for contributors. `--help` prints the help and ends the process. So do arguments that the command does not
 * know, with exit code 2.
 */
export function readArguments<const G extends Given>(help: string, given: G): ReturnType<typeof parseArgs<G>> {
  if (process.argv.includes('--help')) {
    process.stdout.write(`${help}\n`);
    process.exit(0);
  }
  try {
    return parseArgs(given);
  } catch (error) {
    return refuse(`${(error as Error).message.split('. ')[0]}.\n${help}`);
  }
}

/** Reads the value of an option that is a number. */
export function numberOption(name: string, given: string, least: number): number {
  const number = Number(given);
  if (given.trim() !== '' && number >= least) return number;
  return refuse(`--${name} ${given}: give a number of at least ${least}.`);
}

/** Ends the process because of its arguments. */
export function refuse(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(2);
}
