import { formatPath } from '../../config/config-problem.ts';
import { hasUrl } from '../../config/visibility.ts';
import { canonicalJson } from '../../ports/store/schema/json.ts';

/** A part of an agent's configuration that names an address which the gateway will connect to, perhaps with secrets. */
export interface ReachingOut {
  readonly path: string;
  /** Equal for equal parts. */
  readonly content: string;
}

/**
 * The parts of a configuration that make the gateway connect to an address of its author's choice. The configuration may be
 * unchecked.
 */
export function reachingOut(config: Readonly<Record<string, unknown>>): readonly ReachingOut[] {
  const { tools, mcp, mcpServers, jobs } = config as Readonly<Record<string, unknown>> & {
    readonly mcp?: { readonly servers?: unknown } | null;
    readonly jobs?: { readonly webhook?: unknown } | null;
  };
  return [
    ...inTools(tools, ['tools']),
    ...inList(mcp?.servers, ['mcp', 'servers']),
    ...inList(mcpServers, ['mcpServers']),
    ...(jobs?.webhook === undefined ? [] : [part(['jobs', 'webhook'], jobs.webhook)]),
  ];
}

interface Execution {
  readonly url?: unknown;
  readonly webhookUrl?: unknown;
  readonly agentConfig?: { readonly tools?: unknown } | null;
}

function inTools(tools: unknown, base: readonly PropertyKey[]): readonly ReachingOut[] {
  return listOf(tools).flatMap((one, index) => {
    const { execution } = (one ?? {}) as { readonly execution?: Execution };
    const path = [...base, index];
    const nested = inTools(execution?.agentConfig?.tools, [...path, 'execution', 'agentConfig', 'tools']);
    return hasUrl(execution) ? [part(path, one), ...nested] : nested;
  });
}

function inList(servers: unknown, base: readonly PropertyKey[]): readonly ReachingOut[] {
  return listOf(servers).map((one, index) => part([...base, index], one));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function part(path: readonly PropertyKey[], value: unknown): ReachingOut {
  return { path: formatPath(path), content: canonicalJson(value) };
}
