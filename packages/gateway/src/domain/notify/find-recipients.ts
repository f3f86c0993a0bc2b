import type { Kysely, Selectable } from 'kysely';
import { isMailAddress, type NotifiedPerson } from '../../config/notify-config.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { CallRow, NotifyEventRow, Tables } from '../../ports/store/schema/tables.ts';
import { mayAnswerUnseen } from '../calls/may-answer.ts';
import { toWaitingCall, type WaitingCall } from '../calls/waiting-call.ts';
import type { NotifyTarget } from './notify-target.ts';

/** The people who get one event through one target: ids, or undefined for a message whose link needs a sign-in. */
export type Recipients =
  | { readonly kind: 'people'; readonly ids: readonly (string | undefined)[] }
  /** The person of the target does not exist in its project. */
  | { readonly kind: 'no such person' };

interface Told {
  readonly event: NotifyEventRow;
  readonly agent: { readonly id: string; readonly name: string; readonly project_id: string };
  /** Set if the event is about a call. */
  readonly call: Selectable<CallRow> | undefined;
}

const NONE: Recipients = { kind: 'people', ids: [] };

export async function findRecipients(db: Kysely<Tables>, target: NotifyTarget, told: Told): Promise<Recipients> {
  if (!concerns(target, told)) return NONE;
  const { recipient, project } = target;
  const waiting = told.call === undefined ? undefined : toWaitingCall(told.call);
  if (recipient === undefined) return { kind: 'people', ids: [undefined] };
  if (recipient === 'answerers')
    return { kind: 'people', ids: waiting === undefined ? [] : await answerersOf(db, waiting, project) };
  const id = await findPerson(db, recipient, project);
  if (id === undefined) return { kind: 'no such person' };
  const concernsPerson = waiting === undefined || (await mayAnswerUnseen(db, waiting, id));
  return { kind: 'people', ids: concernsPerson ? [id] : [] };
}

function concerns({ project, events, agents }: NotifyTarget, { event, agent }: Told): boolean {
  if (agent.project_id !== project || !events.includes(event.event)) return false;
  // The limit of a project is about all its agents.
  return agents === undefined || event.scope === 'project' || agents.includes(agent.name);
}

async function findPerson(
  db: Kysely<Tables>,
  { id, externalId }: NotifiedPerson,
  project: string,
): Promise<string | undefined> {
  const people = db
    .selectFrom('entities')
    .select('id')
    .where('project_id', '=', project)
    .where('kind', '=', 'human')
    .where('deleted_at', 'is', null);
  const found = id === undefined ? people.where('external_id', '=', externalId ?? '') : people.where('id', '=', id);
  return (await found.executeTakeFirst())?.id;
}

/** More people than this are not a group that one question is for. */
const MOST_ANSWERERS = 50;

async function answerersOf(db: Kysely<Tables>, call: WaitingCall, project: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let after = ''; ; ) {
    const people = await candidates(db, call, { project, after });
    for (const { id, metadata } of people) {
      if (emailIn(metadata) === undefined || !(await mayAnswerUnseen(db, call, id))) continue;
      if (ids.push(id) === MOST_ANSWERERS) return ids;
    }
    const last = people.at(-1);
    if (last === undefined || people.length < PAGE_SIZE) return ids;
    after = last.id;
  }
}

const PAGE_SIZE = 200;

/** People who could have an address and the right to answer, by id. Of a large space, only those are read. */
async function candidates(
  db: Kysely<Tables>,
  { answeredBy, spaceId = '', runId }: WaitingCall,
  { project, after }: { readonly project: string; readonly after: string },
): Promise<readonly { readonly id: string; readonly metadata: string }[]> {
  const named = ['', ...(answeredBy?.entities ?? [])];
  const roles = ['', ...(answeredBy?.roles ?? [])];
  return await db
    .selectFrom('entities')
    .select(['id', 'metadata'])
    .where('project_id', '=', project)
    .where('kind', '=', 'human')
    .where('deleted_at', 'is', null)
    .where('metadata', 'like', '%"email"%')
    .where('id', '>', after)
    .where((eb) =>
      eb.or([
        eb('id', 'in', named),
        eb(
          'id',
          'in',
          eb
            .selectFrom('memberships')
            .select('entity_id')
            .where('space_id', '=', spaceId)
            .where('left_at', 'is', null)
            .$if(answeredBy !== undefined, (members) => members.where('role', 'in', roles)),
        ),
        eb(
          'id',
          'in',
          eb
            .selectFrom('runs')
            .innerJoin('contexts', 'contexts.id', 'runs.thread_id')
            .select('contexts.owner_id as id')
            .where('runs.id', '=', runId)
            .where('contexts.owner_id', 'is not', null)
            .$castTo<{ id: string }>(),
        ),
      ]),
    )
    .orderBy('id')
    .limit(PAGE_SIZE)
    .execute();
}

/** The address in the metadata of a person, if it is one. */
export function emailIn(metadata: string): string | undefined {
  const { email } = fromJson<{ readonly email?: unknown }>(metadata);
  return typeof email === 'string' && isMailAddress(email) ? email : undefined;
}
