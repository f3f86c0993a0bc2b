import type { createSession } from '@lastcall/core';
import { type Filesystem, FilesystemError, memoryFilesystem } from '@lastcall/core/files';
import type { SessionHost } from '@lastcall/core/internal';
import type { OpenedRun } from './open-run.ts';

/** What a session of the run is given besides its state: logs, resources and files. */
export function sessionHost({ services, registry, files, run: { agent } }: OpenedRun): SessionHost {
  return {
    logger: services.logger,
    ...(registry.shared === undefined ? {} : { shared: registry.shared }),
    resources: agent.setup.definition?.resources ?? [],
    ...(files === undefined ? { otherwiseFilesystem: UNKEPT_FILES } : { filesystem: files }),
  };
}

/** The same for the session of a machine's instance. */
export function instanceSession(open: OpenedRun): SessionOptions {
  const { otherwiseFilesystem, ...host } = sessionHost(open);
  const { slices = [] } = open.run.agent.setup.definition ?? {};
  const hasOwnFiles = open.run.agent.setup.definition?.resources.some(({ key }) => key === 'filesystem') === true;
  const files = otherwiseFilesystem === undefined || hasOwnFiles ? {} : { filesystem: otherwiseFilesystem };
  return { ...host, ...files, slices };
}

type SessionOptions = NonNullable<Parameters<typeof createSession>[0]>;

/**
 * The file system of tools whose agent has no files: it is empty and read-only. A file that a tool wrote would be lost with the
 * run, without any error.
 */
const UNKEPT_FILES: Filesystem = {
  ...memoryFilesystem(),
  writeText: (path) => refuse(path),
  delete: (path) => refuse(path),
};

async function refuse(path: string): Promise<never> {
  throw new FilesystemError(
    'not_kept',
    path,
    'files that the tools of this agent write are not kept. Give its definition files: true, keep state in a slice of the session, or use a resource with the key "filesystem".',
  );
}
