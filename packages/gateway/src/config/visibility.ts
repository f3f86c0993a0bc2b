/** Where a tool runs: on the gateway, in an external service, with a person in a space, or on the gateway without being shown. */
export type ExecutionType = 'gateway' | 'external' | 'space' | 'internal';

/**
 * True if a tool's calls are messages of the active space. By default those of `gateway`, `external` and `space` tools
 * are; `visible` overrides that; those of `internal` tools never are, whatever `visible` says.
 */
export function isVisible(tool: {
  readonly executionType: ExecutionType;
  readonly visible?: boolean | undefined;
}): boolean {
  return tool.executionType !== 'internal' && (tool.visible ?? true);
}

/** True if the tool's calls are answered later from outside: `space` tools, and `external` ones without a URL. */
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

/** True if the tool makes images. */
export function isImage(execution: { readonly provider?: unknown } | undefined): boolean {
  return execution?.provider !== undefined;
}

/** True if the tool returns a text that is made of its input. */
export function isTemplate(execution: { readonly template?: unknown } | undefined): boolean {
  return execution?.template !== undefined;
}

/** True if the tool runs a sub-agent. */
export function isSubAgent(execution: { readonly agentConfig?: unknown } | undefined): boolean {
  return execution?.agentConfig !== undefined;
}
