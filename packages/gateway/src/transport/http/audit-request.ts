import { DEFAULT_PROJECT } from '../../config/default-project.ts';
import type { AuditActor, AuditKind } from '../../domain/audit/audit-entry.ts';
import { type NewAuditEntry, writeAudit } from '../../domain/audit/write-audit.ts';
import type { Tx } from '../../ports/store/store.ts';
import { type Caller, limitedTo, viewOf } from '../caller.ts';
import type { AuditedChange, AuditedInput, Endpoint } from './endpoint.ts';
import { operationId } from './openapi.ts';

/**
 * Writes the entry of a request in its transaction. This is the one place through which all requests go that change anything; only the
 * MCP server has its own transactions, and writes its entries there.
 */
export function auditRequest(tx: Tx, one: Endpoint, input: AuditedInput, value: unknown): void {
  if (one.method === 'get' || one.audit === 'none') return;
  const change = one.audit === undefined ? changeOf(one, input, value) : one.audit(value as never, input);
  if (change === undefined) return;
  for (const each of Array.isArray(change) ? change : [change]) writeChange(tx, one, input, each);
}

export function writeChange(tx: Tx, one: Endpoint, input: AuditedInput, change: AuditedChange): void {
  const { caller, address, requestId } = input;
  const { subject, status = one.status, actor = actorOf(caller), action = operationId(one) } = change;
  writeAudit(tx, { project: projectOf(caller, change), actor, action, subject, address, requestId, status });
}

function actorOf(caller: Caller): AuditActor {
  switch (caller.kind) {
    case 'anonymous':
      return {};
    case 'key':
      return { keyId: caller.keyId };
    case 'entity':
      return { entityId: caller.entityId };
    case 'session':
      return { keyId: caller.keyId, sessionId: caller.sessionId, entityId: caller.entityId };
  }
}

/** The project of what was changed. A caller that sees one project changes nothing elsewhere. */
function projectOf(caller: Caller, { subject, projectOf: thing = subject }: AuditedChange): NewAuditEntry['project'] {
  const { project } = viewOf(caller);
  if (project !== undefined) return project;
  const entityId = limitedTo(caller);
  if (entityId !== undefined) return { kind: 'entity', id: entityId };
  if (thing?.kind === 'project') return thing.id;
  return thing ?? DEFAULT_PROJECT;
}

interface Told {
  readonly id?: unknown;
  readonly contextId?: unknown;
  readonly duplicate?: unknown;
  readonly isRepeat?: unknown;
}

/** What the path names was changed, or what the result names was created. */
function changeOf({ path }: Endpoint, { params }: AuditedInput, value: unknown): AuditedChange | undefined {
  const told = (typeof value === 'object' && value !== null ? value : {}) as Told;
  if (told.duplicate === true || told.isRepeat === true) return undefined;
  if (typeof told.contextId === 'string') return { subject: { kind: 'conversation', id: told.contextId } };
  const [, collection = '', param] = /^((?:\/[\w-]+)+)(?:\/\{(\w+)\})?/.exec(path) ?? [];
  const kind = KINDS[collection];
  const id = param === undefined ? told.id : params[param];
  return { subject: kind === undefined || typeof id !== 'string' ? undefined : { kind, id } };
}

const KINDS: Readonly<Record<string, AuditKind>> = {
  '/api/agents': 'agent',
  '/api/artifacts': 'artifact',
  '/api/spaces': 'space',
  '/api/entities': 'entity',
  '/api/evaluations': 'evaluation',
  '/api/projects': 'project',
  '/api/tools': 'tool',
  '/api/mcp/tools': 'MCP tool',
  '/api/runs': 'run',
  '/api/jobs': 'call',
  '/api/keys': 'key',
  '/api/grants': 'grant',
  '/api/links': 'link',
  '/api/notifications': 'notification',
  '/api/sessions': 'session',
  '/contexts': 'conversation',
};
