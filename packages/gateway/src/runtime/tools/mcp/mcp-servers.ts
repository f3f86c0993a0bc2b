import { createHash } from 'node:crypto';
import type { AgentConfig } from '../../../config/agent-config.ts';
import type { McpServerConfig } from '../../../config/mcp-server.ts';
import { parseTemplate } from '../../../config/template.ts';
import { holdChangedTools } from '../../../domain/mcp/hold-changed-tools.ts';
import { voidApprovals } from '../../../domain/mcp/void-approvals.ts';
import type { Services } from '../../../ports/services.ts';
import { canonicalJson } from '../../../ports/store/json.ts';
import type { Secrets } from '../../../telemetry/secrets.ts';
import { fillText } from '../http/fill-template.ts';
import type { Outgoing } from '../http/http-tool.ts';
import { McpConnection, type McpStatus } from './mcp-connection.ts';
import { approvedPart, fingerprintOf, type McpDefinition } from './mcp-definition.ts';
import type { McpLogin } from './mcp-login.ts';
import { mcpToolName } from './mcp-tool-name.ts';
import type { McpAddress } from './open-client.ts';

/** A connection that nobody used for this long is closed, and a process with it. */
const IDLE_MS = 300_000;
const SWEEP_MS = 30_000;

/** A server, and the connection to it. */
export interface ConnectedServer {
  readonly server: McpServerConfig;
  readonly connection: McpConnection;
}

/** The MCP servers of this gateway's agents. Each is connected when an agent first uses it. */
export class McpServers {
  readonly #services: Services;
  readonly #outgoing: Outgoing;
  readonly #login: McpLogin;
  readonly #connections = new Map<string, ConnectedServer>();
  #sweep: NodeJS.Timeout | undefined;

  constructor(services: Services, outgoing: Outgoing, login: McpLogin) {
    this.#services = services;
    this.#outgoing = outgoing;
    this.#login = login;
  }

  /** The connection to a server. Agents that reach it in the same way, with the same credentials, share it. */
  connection(server: McpServerConfig): McpConnection {
    const key = connectionKey(server);
    const known = this.#connections.get(key);
    if (known !== undefined) return known.connection;
    const { egress, secrets } = this.#outgoing;
    const connection = new McpConnection({
      name: server.name,
      transport: server.transport,
      address: async () => addressOf(server, secrets, await this.#login.provider(key, server)),
      authorizationUrl: () => this.#login.awaitedUrl(key, server),
      egress,
      secrets: secrets.known,
      logger: this.#services.logger,
      findHeld: (tools) => this.#findHeld(server, tools),
    });
    this.#connections.set(key, { server, connection });
    this.#sweep ??= setInterval(() => this.#closeIdle(), SWEEP_MS).unref();
    return connection;
  }

  /** The servers that were used lately. */
  connected(): readonly ConnectedServer[] {
    return [...this.#connections.values()];
  }

  /** How the servers are that were used lately. */
  status(): readonly (McpStatus & { readonly name: string; readonly transport: string })[] {
    return [...this.#connections.values()].map(({ server: { name, transport }, connection }) => ({
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

  async #findHeld(server: McpServerConfig, tools: readonly McpDefinition[]): Promise<ReadonlySet<string>> {
    const key = serverKey(server);
    const seen = tools.map((one) => ({
      name: one.name,
      fingerprint: fingerprintOf(one),
      definition: approvedPart(one),
    }));
    const { held, newlyHeld } = await holdChangedTools(this.#services, { key, name: server.name }, seen);
    if (newlyHeld.length > 0)
      await voidApprovals(this.#services, ({ toolName, config }) =>
        serversOf(config).some(
          (one) => serverKey(one) === key && newlyHeld.some((tool) => mcpToolName(one.name, tool) === toolName),
        ),
      );
    return held;
  }
}

export function serversOf({ mcp }: AgentConfig): readonly McpServerConfig[] {
  return mcp?.servers ?? [];
}

/** The same for servers that are reached in the same way, with the same credentials. */
export function connectionKey({ transport, url, headers, auth, command, args, env }: McpServerConfig): string {
  return canonicalJson({ transport, url, headers, auth, command, args, env });
}

/** Which server it is, whatever the credentials and whatever its name in a configuration. */
function serverKey({ transport, url, command, args }: McpServerConfig): string {
  return createHash('sha256').update(canonicalJson({ transport, url, command, args })).digest('hex');
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
