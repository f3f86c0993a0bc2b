import type { ServerContext } from '@modelcontextprotocol/server';
import type { AuditSubject } from '../../domain/audit/audit-entry.ts';
import { writeAudit } from '../../domain/audit/write-audit.ts';
import type { Tx } from '../../ports/store/store.ts';
import { keyIdOf, viewOf } from './mcp-caller.ts';

/** Writes the entry of a message that changed something, in the transaction of the change. */
export function auditMcp(tx: Tx, ctx: ServerContext, subject: AuditSubject): void {
  const { address, requestId } = ctx.http?.authInfo?.extra ?? {};
  writeAudit(tx, {
    project: viewOf(ctx).project ?? subject,
    actor: { keyId: keyIdOf(ctx) },
    action: 'post_mcp',
    subject,
    address: typeof address === 'string' ? address : '',
    requestId: typeof requestId === 'string' ? requestId : undefined,
    status: 200,
  });
}
