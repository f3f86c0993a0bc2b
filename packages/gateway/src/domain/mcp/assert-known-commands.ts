import type { AgentConfig } from '../../config/agent-config.ts';
import { ApiError } from '../api-error.ts';

/** Says whether the gateway's configuration file starts this program too. */
export type IsKnownCommand = (server: { readonly command?: unknown; readonly args?: unknown }) => boolean;

/** The programs that the agents of a configuration file start. */
export function knownCommands(agents: readonly AgentConfig[]): IsKnownCommand {
  const known = new Set(
    agents
      .flatMap(({ mcp }) => mcp?.servers ?? [])
      .filter(({ transport }) => transport === 'stdio')
      .map(({ command, args = [] }) => JSON.stringify([command, args])),
  );
  return ({ command, args = [] }) => known.has(JSON.stringify([command, args]));
}

/**
 * Refuses an agent that would start a program on the gateway's machine, unless the configuration file starts the same one:
 * a key for the API must not be a key to the machine.
 */
export function assertKnownCommands(config: Readonly<Record<string, unknown>>, isKnown: IsKnownCommand): void {
  const { mcp, mcpServers } = config as { mcp?: { servers?: unknown } | null; mcpServers?: unknown };
  const lists = [
    ['mcp.servers', mcp?.servers],
    ['mcpServers', mcpServers],
  ] as const;
  for (const [field, servers] of lists)
    for (const [index, server] of (Array.isArray(servers) ? servers : []).entries())
      if (server?.transport === 'stdio' && !isKnown(server)) refuse(`${field}[${index}].command`);
}

function refuse(path: string): never {
  const message = 'is not started by an agent of the configuration file. Add the server there: it runs a program.';
  throw new ApiError(422, 'invalid_config', `The agent's configuration is invalid: ${path} ${message}`, {
    details: { path, problems: [{ path, message }] },
  });
}
