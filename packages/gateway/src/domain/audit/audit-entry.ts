/** Who did it. Empty for a request without credentials. */
export interface AuditActor {
  readonly keyId?: string | undefined;
  /** The browser session, if it was one. */
  readonly sessionId?: string | undefined;
  /** The person that a token or a session acts for. */
  readonly entityId?: string | undefined;
}

/** What was changed. */
export interface AuditSubject {
  readonly kind: AuditKind;
  readonly id: string;
}

export type AuditKind = (typeof AUDIT_KINDS)[number];

export const AUDIT_KINDS = [
  'agent',
  'artifact',
  'call',
  'conversation',
  'entity',
  'evaluation',
  'grant',
  'key',
  'link',
  'MCP tool',
  'notification',
  'project',
  'run',
  'session',
  'space',
  'tool',
] as const;

/** An actor as a caller sees it. */
export interface ShownActor extends AuditActor {
  readonly keyName?: string;
  /** A key that does not belong to the project of the caller, who does not see which. */
  readonly operator?: true;
}

/** One change that was asked for from outside. It has no texts of people, no inputs and no secrets. */
export interface AuditEntry {
  readonly id: string;
  readonly at: number;
  readonly project: string;
  readonly actor: ShownActor;
  /** The operation, as the OpenAPI document names it: `post_agents`. */
  readonly action: string;
  readonly subject?: AuditSubject;
  readonly address?: string;
  readonly requestId?: string;
  /** The status of the response. */
  readonly status: number;
}
