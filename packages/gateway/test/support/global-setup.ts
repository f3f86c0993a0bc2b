import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the server's own database: tests make theirs beside it. */
    postgresUrl: string;
  }
}

/** One PostgreSQL server for all test files: starting it takes a second, a database in it a few milliseconds. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  // The package that runs the server ends the process with 0 once nothing is left to do, also when tests have failed.
  process.prependListener('beforeExit', () => {
    if (process.exitCode) process.exit();
  });
  project.provide('postgresUrl', await server.createDatabase());
  return () => server.stop();
}
