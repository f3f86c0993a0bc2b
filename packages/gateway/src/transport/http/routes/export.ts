import { z } from 'zod';
import { getEntity } from '../../../domain/entities/entity.ts';
import { exportEntity } from '../../../domain/entities/export-entity.ts';
import type { Services } from '../../../ports/services.ts';
import type { Caller } from '../../caller.ts';
import { assertStillValid } from '../authenticate.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { idField } from '../fields.ts';
import { JSON_LINES, jsonLines } from '../json-lines.ts';

export function exportEndpoints({ store }: Pick<Services, 'store'>): readonly Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/export',
      summary: 'Get the data of a person',
      description:
        'As JSON lines: the person, their spaces and messages, their conversations, the answers that they gave, their sessions and tokens, and what models were asked for them. `type` says what a line is.',
      access: 'admin',
      query: z.strictObject({ entityId: idField }),
      answer: JSON_LINES,
      async handle({ query: { entityId } }, tx) {
        await getEntity(tx.db, entityId);
        return { entityId, now: tx.now() };
      },
      respond: ({ entityId, now }, { caller }) =>
        jsonLines(whileValid(caller, store, exportEntity(store.db, entityId, now))),
    }),
  ];
}

/** Cuts the export if the key is revoked. */
async function* whileValid<T>(caller: Caller, { db }: Services['store'], pages: AsyncGenerator<T>): AsyncGenerator<T> {
  for await (const page of pages) {
    await assertStillValid(db, caller);
    yield page;
  }
}
