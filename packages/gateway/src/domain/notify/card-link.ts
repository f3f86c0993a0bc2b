import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Tx } from '../../ports/store/store.ts';
import { isId } from '../entities/column-text.ts';
import { linkNotValid } from '../keys/sign-in-link.ts';

/**
 * The code of a link. It is computed from the id of its notification, so that a notification that is sent again has the same link, and the
 * store has nothing that would open it.
 */
export function cardCode(secret: Uint8Array, notificationId: string): string {
  return `${notificationId}.${mac(secret, notificationId).toString('base64url')}`;
}

function mac(secret: Uint8Array, notificationId: string): Buffer {
  // The prefix keeps these codes apart from everything else that is signed with the secret.
  return createHmac('sha256', secret).update(`lastcall-card-link:${notificationId}`).digest();
}

/** What a link opens, and for whom. */
export interface OpenedCard {
  readonly callId: string;
  readonly runId: string;
  readonly entity: { readonly id: string; readonly displayName: string };
}

/** Uses a code, which works once. If two requests use it at the same moment, one marks the row, and the other finds it marked. */
export async function openCardLink(tx: Tx, secret: Uint8Array, code: string): Promise<OpenedCard> {
  const id = notificationIn(secret, code);
  if (id === undefined) throw linkNotValid('unknown');
  const used = await tx.db
    .updateTable('notifications')
    .set({ link_used_at: tx.now() })
    .where('id', '=', id)
    .where('link_used_at', 'is', null)
    .where('link_expires_at', '>', tx.now())
    .returning(['call_id', 'run_id', 'entity_id'])
    .executeTakeFirst();
  if (used === undefined) throw await refusalOf(tx, id);
  const { call_id: callId, run_id: runId, entity_id: entityId } = used;
  const person = await tx.db
    .selectFrom('entities')
    .select(['id', 'display_name'])
    .where('id', '=', entityId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (person === undefined || callId === null || runId === null) throw linkNotValid('revoked');
  return { callId, runId, entity: { id: person.id, displayName: person.display_name } };
}

function notificationIn(secret: Uint8Array, code: string): string | undefined {
  const [id = '', given = '', ...more] = code.split('.');
  const bytes = Buffer.from(given, 'base64url');
  if (!isId(id) || more.length > 0) return undefined;
  const expected = mac(secret, id);
  return bytes.length === expected.length && timingSafeEqual(bytes, expected) ? id : undefined;
}

async function refusalOf(tx: Tx, id: string) {
  const row = await tx.db.selectFrom('notifications').select('link_used_at').where('id', '=', id).executeTakeFirst();
  return linkNotValid(row === undefined || row.link_used_at === null ? 'expired' : 'used');
}
