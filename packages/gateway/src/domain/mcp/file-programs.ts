import type { AgentConfig } from '../../config/agent-config.ts';
import { formatPath } from '../../config/config-problem.ts';
import { ApiError } from '../api-error.ts';
import { changesHowProgramsStart } from './startup-variables.ts';

/** Why a program is not started. */
interface ProgramProblem {
  /** The field of the server, such as `['env', 'NODE_OPTIONS']`. */
  readonly path: readonly string[];
  readonly message: string;
}

/** A server as the request has it. It may be unchecked. */
interface GivenServer {
  readonly transport?: unknown;
  readonly command?: unknown;
  readonly args?: unknown;
  readonly env?: unknown;
}

/** Returns why a server's program may not be started, or undefined if it may. */
export type CheckProgram = (server: GivenServer) => ProgramProblem | undefined;

type Variables = Readonly<Record<string, unknown>>;

/**
 * The programs that the agents of a configuration file start. An agent of the API may start the same ones, with its own values
 * for the variables that the file names, but not for those that change how programs start.
 */
export function filePrograms(agents: readonly Pick<AgentConfig, 'mcp'>[]): CheckProgram {
  const started = agents.flatMap(({ mcp }) => mcp?.servers ?? []).filter(({ transport }) => transport === 'stdio');
  const variants = Map.groupBy(started, programOf);
  return (server) => {
    if (server.transport !== 'stdio') return undefined;
    const inFile = variants.get(programOf(server));
    if (inFile === undefined) return { path: ['command'], message: NO_SUCH_PROGRAM };
    // If the file has several variants, one of them has to fit: combining what each allows may not be safe.
    const problems = inFile.map(({ env = {} }) => variableProblem(server.env ?? {}, env));
    return problems.includes(undefined) ? undefined : problems[0];
  };
}

/** Refuses an agent that would start a program other than the configuration file does: a key for the API must not be a key to the machine. */
export function assertFilePrograms(config: Readonly<Record<string, unknown>>, check: CheckProgram): void {
  const { mcp, mcpServers } = config as { mcp?: { servers?: unknown } | null; mcpServers?: unknown };
  const lists = [
    [['mcp', 'servers'], mcp?.servers],
    [['mcpServers'], mcpServers],
  ] as const;
  for (const [list, servers] of lists)
    for (const [index, server] of (Array.isArray(servers) ? servers : []).entries()) {
      const problem = check(server ?? {});
      if (problem !== undefined) refuse(formatPath([...list, index, ...problem.path]), problem.message);
    }
}

const NO_SUCH_PROGRAM =
  'is not started, with these arguments, by an agent of the configuration file. Add the server there: it runs a program.';

function programOf({ command, args = [] }: GivenServer): string {
  return JSON.stringify([command, args]);
}

function variableProblem(given: unknown, inFile: Variables): ProgramProblem | undefined {
  // A value that is not an object is refused later, by the check of the configuration.
  for (const [name, value] of Object.entries(given ?? {})) {
    if (Object.hasOwn(inFile, name) && inFile[name] === value) continue;
    if (changesHowProgramsStart(name))
      return { path: ['env', name], message: 'changes how programs start. Only the configuration file may set it.' };
    if (!Object.hasOwn(inFile, name))
      return {
        path: ['env', name],
        message: 'is not a variable that the configuration file gives this program. Add it there, or remove it.',
      };
  }
  return undefined;
}

function refuse(path: string, message: string): never {
  throw new ApiError('invalid_config', `The agent's configuration is invalid: ${path} ${message}`, {
    details: { path, problems: [{ path, message }] },
  });
}
