import type { Kysely } from 'kysely';
import type { NotificationRow, Tables } from '../../ports/store/schema/tables.ts';
import type { Redact } from '../../telemetry/redact.ts';
import { mayAnswerUnseen } from '../calls/may-answer.ts';
import { toWaitingCall, type WaitingCall } from '../calls/waiting-call.ts';
import { cardCode } from './card-link.ts';
import { emailIn } from './find-recipients.ts';
import { type Notice, type NoticeLink, toNotice } from './notice.ts';
import type { NotifyTarget } from './notify-target.ts';

export interface NoticeContext {
  /** The URL under which browsers reach the gateway. */
  readonly baseUrl: string;
  /** Makes the codes of links: see card-link.ts. */
  readonly linkSecret: Uint8Array;
  readonly redact: Redact;
}

export interface ReadNotice {
  readonly notice: Notice;
  /** The address of the person, if the target sends to people. */
  readonly address?: string | undefined;
}

/**
 * What to send now. Undefined if there is nothing left to tell: the call was answered, the person or the agent is gone, or the person may
 * not answer the call any more, e.g. because they left the space.
 */
export async function readNotice(
  db: Kysely<Tables>,
  row: NotificationRow,
  target: NotifyTarget,
  context: NoticeContext,
): Promise<ReadNotice | undefined> {
  const person = row.entity_id === null ? undefined : await livingPerson(db, row.entity_id);
  if (row.entity_id !== null && person === undefined) return undefined;
  const call = row.call_id === null ? undefined : await waitingCall(db, row);
  if (row.call_id !== null && call === undefined) return undefined;
  if (row.entity_id !== null && call !== undefined && !(await mayAnswerUnseen(db, call, row.entity_id)))
    return undefined;
  const agent = row.agent_id === null ? undefined : await agentOf(db, row.agent_id);
  if (row.agent_id !== null && agent === undefined) return undefined;
  const notice = toNotice({
    id: row.id,
    event: row.event,
    project: row.project_id,
    target: row.target,
    agent,
    runId: row.run_id ?? undefined,
    call,
    limit: row.scope === null ? undefined : { scope: row.scope, id: row.scope_id ?? '' },
    includesInput: target.includesInput,
    link: linkOf(row, context),
    redact: context.redact,
  });
  return { notice, address: person === undefined ? undefined : emailIn(person.metadata) };
}

/** A link for a person works once and without a sign-in. Every other link opens a page of the studio. */
function linkOf(row: NotificationRow, { baseUrl, linkSecret }: NoticeContext): NoticeLink | undefined {
  const at = (path: string): string => new URL(path, baseUrl).href;
  if (row.call_id !== null && row.link_expires_at !== null)
    return {
      url: `${at('/card')}#${cardCode(linkSecret, row.id)}`,
      label: 'Open the card',
      expiresAt: row.link_expires_at,
    };
  if (row.call_id !== null) return { url: at(`/calls/${encodeURIComponent(row.call_id)}`), label: 'Open the call' };
  if (row.event === 'limit.reached') return { url: at('/usage'), label: 'Open the usage' };
  if (row.run_id !== null) return { url: at(`/runs/${encodeURIComponent(row.run_id)}`), label: 'Open the run' };
  return { url: at('/'), label: 'Open the studio' };
}

async function waitingCall(db: Kysely<Tables>, { call_id, round }: NotificationRow): Promise<WaitingCall | undefined> {
  const row = await db
    .selectFrom('calls')
    .selectAll()
    .where('id', '=', call_id)
    .where('wait_status', '=', 'pending')
    .executeTakeFirst();
  return row === undefined || row.rounds > round ? undefined : toWaitingCall(row);
}

async function agentOf(db: Kysely<Tables>, id: string): Promise<{ id: string; name: string } | undefined> {
  const agent = db.selectFrom('agents').select(['id', 'name']).where('id', '=', id).where('status', '!=', 'deleted');
  return await agent.executeTakeFirst();
}

async function livingPerson(db: Kysely<Tables>, id: string): Promise<{ metadata: string } | undefined> {
  const person = db.selectFrom('entities').select('metadata').where('id', '=', id).where('deleted_at', 'is', null);
  return await person.executeTakeFirst();
}
