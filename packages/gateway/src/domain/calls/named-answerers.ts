import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { WaitingCall } from './waiting-call.ts';

/** Adds the names of the people and services that answered the calls, in time or late. Keys have no name here. */
export async function withNames(db: Kysely<Tables>, calls: readonly WaitingCall[]): Promise<readonly WaitingCall[]> {
  const ids = calls.flatMap(({ resolvedBy, lateAnswers = [] }) => [resolvedBy, ...lateAnswers.map(({ by }) => by)]);
  const names = await namesOf(db, [...new Set(ids.filter((id) => id !== undefined))]);
  return calls.map((call) => withNamesOf(call, names));
}

async function namesOf(db: Kysely<Tables>, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('entities').select(['id', 'display_name']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, display_name }) => [id, display_name]));
}

function withNamesOf(call: WaitingCall, names: ReadonlyMap<string, string>): WaitingCall {
  const { resolvedBy = '', lateAnswers } = call;
  const resolvedByName = names.get(resolvedBy);
  return {
    ...call,
    ...(resolvedByName === undefined ? {} : { resolvedByName }),
    ...(lateAnswers === undefined
      ? {}
      : {
          lateAnswers: lateAnswers.map((late) => {
            const byName = names.get(late.by);
            return byName === undefined ? late : { ...late, byName };
          }),
        }),
  };
}
