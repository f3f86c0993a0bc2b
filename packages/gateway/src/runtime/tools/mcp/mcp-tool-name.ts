import { createHash } from 'node:crypto';

const LONGEST_NAME = 64;

/**
 * The name of a server's tool for models: `server__tool`. Names that providers would refuse, or that could belong to
 * another server, are shortened and get a hash.
 */
export function mcpToolName(server: string, tool: string): string {
  const plain = `${server}__${tool}`;
  const isPlain = isPlainServer(server) && /^[\w-]+$/.test(plain) && plain.length <= LONGEST_NAME;
  if (isPlain) return plain;
  const prefix = prefixOf(server);
  return `${prefix}__${readable(tool, LONGEST_NAME - prefix.length - 11)}-${hashOf(tool)}`;
}

/** True if a tool of this server could have the name. */
export function isToolNameOf(server: string, name: string): boolean {
  return name.startsWith(`${prefixOf(server)}__`);
}

function prefixOf(server: string): string {
  return isPlainServer(server) ? server : `${readable(server, 12)}-${hashOf(server)}`;
}

/** The first `__` ends the server's name, so that no two servers share a tool name. */
function isPlainServer(name: string): boolean {
  return /^[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*$/.test(name) && name.length <= 40;
}

function readable(name: string, length: number): string {
  return name
    .replace(/[^A-Za-z0-9]+/g, '-')
    .slice(0, length)
    .replace(/^-|-$/g, '');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
