import { z } from 'zod';

/** What the MCP server at `/mcp` offers to holders of a key, and which host names it answers to. */
export interface McpExposure {
  /** Tools of the file and of the registry. Default: all. A list names those that are offered, `false` offers none. */
  readonly tools: boolean | readonly string[];
  /** Agents, by name or id. Default: all. */
  readonly agents: boolean | readonly string[];
  /**
   * Host names under which `/mcp` is reached. Requests under another name are refused. Default: the names of this machine, if the
   * gateway listens on a loopback address; otherwise every name.
   */
  readonly hosts?: readonly string[] | undefined;
}

export interface McpExposureInput {
  readonly tools?: boolean | readonly string[] | undefined;
  readonly agents?: boolean | readonly string[] | undefined;
  readonly hosts?: readonly string[] | undefined;
}

export const DEFAULT_MCP_EXPOSURE: McpExposure = { tools: true, agents: true };

const names = z.union([z.boolean(), z.array(z.string().min(1).max(500)).max(1_000)], {
  error: 'must be true, false or a list of names.',
});

const host = z
  .string()
  .refine((text) => URL.canParse(`http://${text}`) && new URL(`http://${text}`).hostname === text, {
    error: 'must be a host name in lower case, without scheme and port, e.g. "gateway.example.com".',
  });

export const mcpExposureSchema: z.ZodType<McpExposure> = z.strictObject({
  tools: names.default(true),
  agents: names.default(true),
  hosts: z.array(host).max(1_000).optional(),
});
