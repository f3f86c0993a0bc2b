import { createHash } from 'node:crypto';
import type { AgentConfig } from '../../../config/agent-config.ts';
import { formatPath } from '../../../config/config-problem.ts';
import { DEFAULT_PROJECT } from '../../../config/default-project.ts';
import type { McpServerConfig } from '../../../config/mcp-server.ts';
import { parseTemplate } from '../../../config/template.ts';
import type { CheckProgram } from '../../../domain/mcp/file-programs.ts';
import { holdChangedTools } from '../../../domain/mcp/hold-changed-tools.ts';
import { voidApprovals } from '../../../domain/mcp/void-approvals.ts';
import { projectOf, type View } from '../../../domain/projects/view.ts';
import type { Services } from '../../../ports/services.ts';
import { canonicalJson } from '../../../ports/store/schema/json.ts';
import type { Secrets } from '../../../telemetry/secrets.ts';
import { fillText } from '../http/fill-template.ts';
import type { Outgoing } from '../http/http-tool.ts';
import { McpConnection } from './mcp-connection.ts';
import { approvedPart, fingerprintOf, type McpDefinition } from './mcp-definition.ts';
import type { McpLogin } from './mcp-login.ts';
import type { McpStatus } from './mcp-status.ts';
import { mcpToolName } from './mcp-tool-name.ts';
import type { McpAddress } from './open-client.ts';

/** A connection that was unused for this long is closed, and its process ended. */
const IDLE_MS = 300_000;
const SWEEP_MS = 30_000;
/** A server's program may have to be installed and started first, on a busy machine. */
const CONNECT_TIMEOUT_MS = 30_000;

/** A server, and the connection to it. */
export interface ConnectedServer {
  readonly server: McpServerConfig;
  readonly connection: McpConnection;
}

/** How servers are reached, and which programs may be started. */
export interface McpHost {
  readonly outgoing: Outgoing;
  readonly login: McpLogin;
  readonly checkProgram: CheckProgram;
}

/** The MCP servers of this gateway's agents. Each is connected when an agent first uses it. */
export class McpServers {
  readonly #services: Services;
  readonly #host: McpHost;
  readonly #connections = new Map<string, ConnectedServer>();
  #sweep: NodeJS.Timeout | undefined;

  constructor(services: Services, host: McpHost) {
    this.#services = services;
    this.#host = host;
  }

  /** The connection to a server. Agents that reach it in the same way, with the same credentials, share it. */
  connection(server: McpServerConfig): McpConnection {
    const key = connectionKey(server);
    const known = this.#connections.get(key);
    if (known !== undefined) return known.connection;
    const { outgoing, login } = this.#host;
    const { egress, secrets } = outgoing;
    const connection = new McpConnection({
      name: server.name,
      transport: server.transport,
      address: async () => {
        this.#assertProgram(server);
        return addressOf(server, secrets, await login.provider(key, server));
      },
      authorizationUrl: () => login.awaitedUrl(key, server),
      egress,
      secrets: secrets.known,
      logger: this.#services.logger,
      connectTimeoutMs: connectTimeoutOf(server),
      findHeld: (tools, { isChanged }) => this.#findHeld(server, tools, isChanged),
    });
    this.#connections.set(key, { server, connection });
    this.#sweep ??= setInterval(() => this.#closeIdle(), SWEEP_MS).unref();
    return connection;
  }

  /** The servers that were used recently. */
  connected(): readonly ConnectedServer[] {
    return [...this.#connections.values()];
  }

  /** The status of the servers that agents of the caller's project used recently. */
  status(view: View): readonly (McpStatus & { readonly name: string; readonly transport: string })[] {
    const visible = this.connected().filter(({ server }) => (view.project ?? projectOf(server)) === projectOf(server));
    return visible.map(({ server: { name, transport }, connection }) => ({
      name,
      transport,
      ...connection.status,
    }));
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep);
    this.#sweep = undefined;
    const all = [...this.#connections.values()];
    this.#connections.clear();
    await Promise.all(all.map(({ connection }) => connection.close()));
  }

  #closeIdle(): void {
    for (const [key, { connection }] of this.#connections) {
      if (connection.idleMs < IDLE_MS) continue;
      this.#connections.delete(key);
      void connection.close();
    }
  }

  /** The agent may have been stored when the configuration file, or this check, was different. */
  #assertProgram(server: McpServerConfig): void {
    const problem = this.#host.checkProgram(server);
    if (problem !== undefined)
      throw new Error(`The program is not started: ${formatPath(problem.path)} ${problem.message}`);
  }

  async #findHeld(
    server: McpServerConfig,
    tools: readonly McpDefinition[],
    isChanged: boolean,
  ): Promise<ReadonlySet<string>> {
    const key = serverKey(server);
    const seen = tools.map((one) => ({
      name: one.name,
      fingerprint: fingerprintOf(one),
      definition: () => approvedPart(one),
    }));
    const list = { tools: seen, isChanged };
    const { held, newlyHeld } = await holdChangedTools(
      this.#services,
      { key, name: server.name, project: projectOf(server) },
      list,
    );
    if (newlyHeld.length > 0)
      await voidApprovals(this.#services, ({ toolName, config, project }) =>
        serversOf(withServersOf(project, config)).some(
          (one) => serverKey(one) === key && newlyHeld.some((tool) => mcpToolName(one.name, tool) === toolName),
        ),
      );
    return held;
  }
}

/** How long the first connection to a server may take. A run waits that long for it. */
function connectTimeoutOf({ connectTimeout = CONNECT_TIMEOUT_MS }: McpServerConfig): number {
  return connectTimeout;
}

export function serversOf({ mcp }: AgentConfig): readonly McpServerConfig[] {
  return mcp?.servers ?? [];
}

/**
 * The configuration with servers that name the agent's project. Connections, the authorization that people gave to the gateway, and
 * approved tools are those of one project, even if another one uses the same server.
 */
export function withServersOf(project: string, config: AgentConfig): AgentConfig {
  const { mcp } = config;
  if (project === DEFAULT_PROJECT || mcp === undefined) return config;
  return { ...config, mcp: { ...mcp, servers: mcp.servers.map((one) => ({ ...one, project })) } };
}

/** Servers of one project that are reached in the same way with the same credentials have the same key. */
export function connectionKey(server: McpServerConfig): string {
  const { transport, url, headers, auth, command, args, env, project } = server;
  return canonicalJson({ transport, url, headers, auth, command, args, env, project });
}

/** Identifies a server, regardless of its credentials and its name in a configuration. */
function serverKey({ transport, url, command, args, project }: McpServerConfig): string {
  return createHash('sha256').update(canonicalJson({ transport, url, command, args, project })).digest('hex');
}

function addressOf(
  { transport, url = '', headers, command = '', args = [], env }: McpServerConfig,
  secrets: Secrets,
  login: Awaited<ReturnType<McpLogin['provider']>>,
): McpAddress {
  return transport === 'http'
    ? { transport, url, headers: filled(headers, secrets), login }
    : { transport, command, args, env: filled(env, secrets) };
}

function filled(texts: Readonly<Record<string, string>> = {}, secrets: Secrets): Readonly<Record<string, string>> {
  const values = { input: undefined, secret: (name: string) => secrets.read(name) };
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, fillText(parseTemplate(text), values) ?? '']),
  );
}
