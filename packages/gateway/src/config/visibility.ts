/** Where a tool runs: on the gateway, with a service, with a person in a space, or on the gateway and never shown. */
export type ExecutionType = 'gateway' | 'external' | 'space' | 'internal';

/**
 * Whether a tool's calls are messages of the active space. Default: `gateway`, `external` and `space` are; `visible`
 * overrides it; `internal` never is, whatever `visible` says.
 */
export function isVisible(tool: {
  readonly executionType: ExecutionType;
  readonly visible?: boolean | undefined;
}): boolean {
  return tool.executionType !== 'internal' && (tool.visible ?? true);
}

/** Whether its calls are answered by somebody else, later: `space` tools, and `external` ones without a URL. */
export function isInteractive(tool: {
  readonly executionType: ExecutionType;
  readonly execution?: { readonly url?: unknown; readonly webhookUrl?: unknown } | undefined;
}): boolean {
  if (tool.executionType === 'space') return true;
  return tool.executionType === 'external' && !hasUrl(tool.execution);
}

export function hasUrl(execution: { readonly url?: unknown; readonly webhookUrl?: unknown } | undefined): boolean {
  return execution?.url !== undefined || execution?.webhookUrl !== undefined;
}
