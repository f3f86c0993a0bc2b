import { z } from 'zod';
import { type McpAuth, mcpAuthSchema } from './mcp-auth.ts';
import { secretText } from './secret-text.ts';
import { grantsSchema } from './tool-config-schema.ts';

/** An MCP server whose tools an agent has. */
export interface McpServerConfig {
  /** The prefix of its tools: `name__tool`. */
  readonly name: string;
  readonly transport: 'http' | 'stdio';
  readonly url?: string | undefined;
  /** Values may contain `${env.NAME}`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** OAuth, or a token. */
  readonly auth?: McpAuth | undefined;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  /**
   * The environment variables of the process, which inherits nothing else from the gateway's environment. Values may contain
   * `${env.NAME}`.
   */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The server's own names of the tools that the agent gets. Default: all. */
  readonly allowedTools?: readonly string[] | undefined;
  /** True if the gateway trusts what the server says about the effects of its tools. */
  readonly trusted?: boolean | undefined;
  /** How long a call may take, in milliseconds. */
  readonly timeout?: number | undefined;
  /** How long the first connection may take, and how long a run waits for it, in milliseconds. */
  readonly connectTimeout?: number | undefined;
  /** Settings of single tools, by the server's own names. */
  readonly tools?: Readonly<Record<string, McpToolSettings>> | undefined;
  /** The project of the agent, set by the gateway. Default `default`. */
  readonly project?: string | undefined;
}

interface McpToolSettings {
  /** Default false. */
  readonly visible?: boolean | undefined;
  readonly terminal?: boolean | undefined;
  readonly effects?: 'none' | 'session' | 'external' | undefined;
  readonly approval?: boolean | undefined;
  /** False: every call waits for its own approval, and none can be granted in advance. */
  readonly grants?: false | undefined;
}

const text = z.string().regex(/^\P{Cc}+$/u, { error: 'must not be empty or have control characters.' });

const url = z.string().superRefine((value, ctx) => {
  const message = urlProblem(value);
  if (message !== undefined) ctx.addIssue({ code: 'custom', message });
});

function urlProblem(value: string): string | undefined {
  if (/\{\{|\$\{/.test(value)) return 'cannot have placeholders. Send secrets in a header.';
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value)) return 'must be an http or https URL.';
  const { username, password, hash } = new URL(value);
  if (hash !== '') return 'must not have a fragment (#…).';
  return username === '' && password === '' ? undefined : 'must not have credentials. Send them in a header.';
}

/** Headers that the connection or the protocol sets. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  ...['host', 'content-length', 'content-type', 'accept', 'transfer-encoding', 'connection', 'keep-alive', 'upgrade'],
  ...['expect', 'te', 'trailer', 'proxy-authorization', 'proxy-connection', 'last-event-id'],
  ...['mcp-session-id', 'mcp-protocol-version', 'mcp-method', 'mcp-name'],
]);

const headers = z.record(z.string(), secretText).superRefine((given, ctx) => {
  for (const name of Object.keys(given)) {
    const isName = /^[!#$%&'*+.^_`|~0-9a-z-]{1,200}$/i.test(name);
    if (!isName) ctx.addIssue({ code: 'custom', path: [name], message: 'is not a valid header name.' });
    if (RESERVED_HEADERS.has(name.toLowerCase()))
      ctx.addIssue({ code: 'custom', path: [name], message: 'cannot be set: the gateway sets it.' });
  }
});

const variables = z.record(
  z.string().regex(/^[A-Za-z_]\w{0,127}$/, { error: 'must be the name of an environment variable.' }),
  secretText,
);

const toolSettings = z.strictObject({
  visible: z.boolean().optional(),
  terminal: z.boolean().optional(),
  effects: z.enum(['none', 'session', 'external']).optional(),
  approval: z.boolean().optional(),
  grants: grantsSchema.optional(),
});

const FIELDS_OF = { http: ['command', 'args', 'env'], stdio: ['url', 'headers', 'auth'] } as const;
const NEEDED = { http: 'url', stdio: 'command' } as const;

const mcpServerSchema: z.ZodType<McpServerConfig> = z
  .strictObject({
    name: text.max(100),
    transport: z.enum(['http', 'stdio']),
    url: url.optional(),
    headers: headers.optional(),
    auth: mcpAuthSchema.optional(),
    command: text.max(1_000).optional(),
    args: z.array(z.string().max(10_000)).max(200).optional(),
    env: variables.optional(),
    allowedTools: z.array(text.max(200)).max(1_000).optional(),
    trusted: z.boolean().optional(),
    timeout: z.int().min(1).max(86_400_000).optional(),
    connectTimeout: z.int().min(1).max(600_000).optional(),
    tools: z.record(z.string().min(1).max(200), toolSettings).optional(),
  })
  .superRefine((server, ctx) => {
    const needed = NEEDED[server.transport];
    if (server[needed] === undefined)
      ctx.addIssue({ code: 'custom', path: [needed], message: `is missing: "${server.transport}" needs it.` });
    for (const field of FIELDS_OF[server.transport])
      if (server[field] !== undefined)
        ctx.addIssue({ code: 'custom', path: [field], message: `is not for "${server.transport}". Remove it.` });
    const isTwice = Object.keys(server.headers ?? {}).some((name) => name.toLowerCase() === 'authorization');
    if (server.auth !== undefined && isTwice)
      ctx.addIssue({
        code: 'custom',
        path: ['auth'],
        message: 'and an Authorization header are both set. Remove one.',
      });
    for (const name of Object.keys(server.tools ?? {}))
      if (server.allowedTools?.includes(name) === false)
        ctx.addIssue({ code: 'custom', path: ['tools', name], message: 'is not one of allowedTools.' });
  })
  .meta({ id: 'McpServerConfig', description: 'An MCP server whose tools an agent has.' });

/** An agent's servers. Their names must differ. */
export const mcpServersSchema: z.ZodType<readonly McpServerConfig[]> = z
  .array(mcpServerSchema)
  .max(100)
  .superRefine((servers, ctx) => {
    for (const [index, { name }] of servers.entries())
      if (servers.findIndex((other) => other.name === name) < index)
        ctx.addIssue({ code: 'custom', path: [index, 'name'], message: `is "${name}" a second time. Rename one.` });
  });
