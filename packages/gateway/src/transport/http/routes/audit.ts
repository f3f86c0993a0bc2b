import { z } from 'zod';
import { AUDIT_KINDS, type AuditEntry } from '../../../domain/audit/audit-entry.ts';
import { type AuditFilter, listAudit } from '../../../domain/audit/list-audit.ts';
import type { Page } from '../../../domain/entities/page.ts';
import type { Services } from '../../../ports/services.ts';
import { type Caller, viewOf } from '../../caller.ts';
import { assertStillValid } from '../authenticate.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { idField, numberInQuery, pageFields, pageOf } from '../fields.ts';
import { jsonLines } from '../json-lines.ts';

const actorSchema = z
  .strictObject({
    keyId: z.string().optional().meta({ description: 'The key, or the key that the session was made with.' }),
    keyName: z.string().optional(),
    sessionId: z.string().optional().meta({ description: 'The browser session.' }),
    entityId: z.string().optional().meta({ description: 'The person that the token or the session acts for.' }),
    operator: z.literal(true).optional().meta({ description: 'It was a key that does not belong to your project.' }),
  })
  .meta({ id: 'AuditActor', description: 'Who did it. Empty for a request without credentials.' });

const entrySchema = z
  .strictObject({
    id: z.string(),
    at: z.int(),
    project: z.string(),
    actor: actorSchema,
    action: z.string().meta({ description: 'The `operationId` in this document, e.g. `post_agents`.' }),
    subject: z
      .strictObject({ kind: z.enum(AUDIT_KINDS), id: z.string() })
      .optional()
      .meta({ description: 'What was changed.' }),
    address: z.string().optional().meta({ description: 'Where the request came from.' }),
    requestId: z.string().optional().meta({ description: 'The `X-Request-Id` of the response.' }),
    status: z.int().meta({ description: 'The status of the response.' }),
  })
  .meta({ id: 'AuditEntry', description: 'A change that was asked for from outside. It has no texts and no inputs.' });

const time = numberInQuery({ min: 0, max: 253_402_300_799_999 });

export function auditEndpoints({ store }: Pick<Services, 'store'>): readonly Endpoint[] {
  async function* pagesFrom(first: Page<AuditEntry>, filter: AuditFilter, caller: Caller) {
    yield first.items;
    for (let cursor = first.next; cursor !== undefined; ) {
      await assertStillValid(store.db, caller);
      const { items, next } = await listAudit(store.db, { ...filter, cursor });
      yield items;
      cursor = next;
    }
  }

  return [
    endpoint({
      method: 'get',
      path: '/api/audit',
      summary: 'List who changed what',
      description:
        'Newest first. With `format=jsonl`: all entries from `cursor` on as JSON lines, one entry a line. Entries cannot be changed or deleted; they are kept for `retention.audit` days.',
      access: 'admin',
      query: z.strictObject({
        ...pageFields,
        actor: idField.optional().meta({ description: 'The id of a key, a person or a session.' }),
        action: z.string().min(1).max(200).optional().meta({ description: 'An `operationId` in this document.' }),
        subject: idField.optional().meta({ description: 'The id of what was changed.' }),
        kind: z.enum(AUDIT_KINDS).optional().meta({ description: 'What kind of thing was changed.' }),
        from: time.optional().meta({ description: 'The first time, in milliseconds since the epoch.' }),
        to: time.optional().meta({ description: 'Only entries before this time.' }),
        format: z.enum(['json', 'jsonl']).optional().meta({ description: 'Default: `json`, in pages.' }),
      }),
      answer: pageOf(entrySchema),
      hasLines: true,
      async handle({ caller, query: { format, ...query } }, tx) {
        const isLines = format === 'jsonl';
        const filter: AuditFilter = { ...query, ...(isLines ? { limit: LINES } : {}), view: viewOf(caller) };
        return { page: await listAudit(tx.db, filter), filter, isLines };
      },
      respond({ page, filter, isLines }, { caller, json }) {
        if (!isLines) return json(page);
        return jsonLines(pagesFrom(page, filter, caller));
      },
    }),
  ];
}

/** The entries that an export reads at once. */
const LINES = 200;
