import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { PROJECT_RULES } from '../../src/transport/http/project-rules.ts';
import type { Document } from '../http/api.ts';
import { type SentRequest, sendRequest } from '../rights/send-request.ts';
import { openStage, type Stage } from '../rights/stage.ts';
import { ALIASES, TABLE } from '../rights/table.ts';
import { forAllTests } from '../support/for-all-tests.ts';

/**
 * Calls every operation with the credentials of another project: once with the ids of things that exist, and once with ids of
 * nothing. The two answers must be the same, no answer may contain anything of the first project, and nothing of it may change.
 */
describe('[O1] what another project sees', () => {
  const stage = forAllTests(async () => {
    const opened = await openStage();
    return { ...opened, others: await otherCallers(opened) };
  });

  test('[O1] the matrix and the rules of projects have every path and method of the OpenAPI document, and no other', async () => {
    const { paths } = (await (await fetch(`${stage.url}/openapi.json`)).json()) as Document;
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(Object.keys(TABLE).toSorted()).toEqual(operations.toSorted());
    expect(Object.keys(PROJECT_RULES).toSorted()).toEqual(operations.toSorted());
  });

  test.each(Object.entries({ ...TABLE, ...ALIASES }))(
    '[O1] %s shows and changes nothing of another project',
    async (operation, { request }) => {
      for (const [caller, credentials] of Object.entries(stage.others)) {
        const asked = { operation, ...(await request(stage, 'admin')) };
        // Signing in has an entry in the audit.
        const own = await credentials();
        await stage.idle();
        const [ids, before] = [await planted(stage), await rowsOf(stage)];
        const answer = await send(asked, own);
        const after = await rowsOf(stage);
        const lost = [...before].filter((row) => !after.has(row));
        expect(lost, `${operation} as ${caller} changed rows`).toEqual([]);
        const isAboutSomething = JSON.stringify(withoutIds(asked, ids)) !== JSON.stringify(asked);
        const unknown = isAboutSomething ? await send(withoutIds(asked, ids), await credentials()) : answer;
        expect(answer.status, `${operation} as ${caller}: ${answer.text}`).toBe(unknown.status);
        expect(answer.status, answer.text).toBeLessThan(500);
        if (answer.status >= 400) {
          expect(after, `${operation} as ${caller} added rows`).toEqual(before);
          expect(neutral(answer.text, ids)).toBe(neutral(unknown.text, ids));
        } else if (operation !== SIGN_IN)
          expect(leaksOf(answer.text, ids), `${operation} as ${caller}: ${answer.text}`).toEqual([]);
        assertChecked(operation, caller, answer.status);
      }
    },
  );

  /** Operations whose ids are checked answer 404 to keys that may use them. */
  function assertChecked(operation: string, caller: string, status: number): void {
    const rule = PROJECT_RULES[operation];
    if (caller === 'admin' && typeof rule === 'object') expect(status).toBe(404);
  }

  async function send(asked: SentRequest, credentials: Readonly<Record<string, string>>) {
    const { answer, isStream, leaving } = await sendRequest(stage.url, asked, credentials);
    const text = isStream ? await beginningOf(answer, leaving) : await answer.text();
    return { status: answer.status, text };
  }
});

/** It takes a key, and shows that key's own id. */
const SIGN_IN = 'POST /api/session';

/** What a stream sends at once. */
async function beginningOf({ body }: Response, leaving: AbortController): Promise<string> {
  setTimeout(() => leaving.abort(), 100);
  let text = '';
  try {
    for await (const chunk of body ?? []) text += new TextDecoder().decode(chunk);
  } catch {
    // The stream was left.
  }
  return text;
}

type Credentials = () => Promise<Readonly<Record<string, string>>>;

/** Keys, a token and sessions of a project in which nothing but a person is. */
async function otherCallers({ api, url }: Stage): Promise<Readonly<Record<string, Credentials>>> {
  await api.done('POST', '/api/projects', { id: 'other' });
  const key = async (scope: string): Promise<string> =>
    (await api.done<{ key: string }>('POST', '/api/keys', { name: scope, scopes: [scope], project: 'other' })).key;
  const [read, write, admin] = [await key('read'), await key('write'), await key('admin')];
  const ofOther = async <T>(path: string, body: object): Promise<T> =>
    (await api.call('POST', path, { body, secret: admin })).body as T;
  const { id } = await ofOther<{ id: string }>('/api/entities', { kind: 'human', displayName: 'Mallory' });
  const { token } = await ofOther<{ token: string }>(`/api/entities/${id}/token`, {});
  const ownPage = { origin: url, 'sec-fetch-site': 'same-origin' };
  const session = async (body: object): Promise<Readonly<Record<string, string>>> => {
    const headers = { 'content-type': 'application/json', ...ownPage };
    const answer = await fetch(`${url}/api/session`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { cookie: answer.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '', ...ownPage };
  };
  const bearer =
    (secret: string): Credentials =>
    async () => ({ authorization: `Bearer ${secret}` });
  return {
    read: bearer(read),
    write: bearer(write),
    admin: bearer(admin),
    token: bearer(token),
    operator: () => session({ key: admin }),
    person: async () => {
      const link = await ofOther<{ url: string }>('/api/links', { entityId: id });
      return await session({ code: link.url.split('#in=')[1] });
    },
  };
}

/** Tables whose rows workers write when they like, and rows that belong to no project. `sqlite_sequence` counts the rows of others. */
const NOT_COMPARED: ReadonlySet<string> = new Set([
  ...['threads', 'streams', 'stream_events', 'request_texts', 'transcript_entries', 'usage', 'usage_requests'],
  ...['settings', 'key_rates', 'sessions', 'sign_in_links', 'sqlite_sequence'],
]);

async function rowsOf({ api }: Stage): Promise<ReadonlySet<string>> {
  const { db } = api.services.store;
  const tables = await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(db);
  const rows = new Set<string>();
  for (const { name } of tables.rows) {
    if (NOT_COMPARED.has(name)) continue;
    const all = await sql`select * from ${sql.table(name)}`.execute(db);
    for (const row of all.rows) rows.add(`${name} ${JSON.stringify(row)}`);
  }
  return rows;
}

const isDefault = sql<boolean>`coalesce(api_keys.project_id, 'default') = 'default'`;

/** The ids and names of everything that belongs to the first project. */
async function planted({ api }: Stage): Promise<readonly string[]> {
  const { db } = api.services.store;
  const found = await Promise.all([
    db.selectFrom('agents').select(['id', 'name']).where('project_id', '=', 'default').execute(),
    db.selectFrom('entities').select(['id', 'display_name as name']).where('project_id', '=', 'default').execute(),
    db.selectFrom('spaces').select(['id', 'name']).where('project_id', '=', 'default').execute(),
    db.selectFrom('tools').select(['id', 'name']).where('project_id', '=', 'default').execute(),
    db.selectFrom('api_keys').select('id').where(isDefault).execute(),
    db.selectFrom('runs').select('id').execute(),
    db.selectFrom('calls').select('id').execute(),
    db.selectFrom('contexts').select('id').execute(),
    db.selectFrom('messages').select('id').execute(),
    db.selectFrom('plans').select('id').execute(),
    db.selectFrom('grants').select('id').execute(),
    db.selectFrom('evaluations').select('id').where('project_id', '=', 'default').execute(),
    db.selectFrom('evaluation_cases').select('id').execute(),
    db.selectFrom('evaluation_reports').select('id').execute(),
    db
      .selectFrom('sessions')
      .innerJoin('api_keys', 'api_keys.id', 'key_id')
      .select('sessions.id')
      .where(isDefault)
      .execute(),
  ]);
  const texts = found.flat().flatMap((row) => [row.id, ...('name' in row ? [String(row.name)] : [])]);
  return [...new Set(texts)].toSorted((one, other) => other.length - one.length);
}

/** The same request about things that do not exist. */
function withoutIds<T extends object>(asked: T, ids: readonly string[]): T {
  return ids.reduce<T>((all, id) => {
    const unknown = `${UNKNOWN}${id.length}`;
    return JSON.parse(JSON.stringify(all), (_, value) =>
      typeof value === 'string' ? replaceWord(value, id, unknown) : value,
    );
  }, asked);
}

const UNKNOWN = 'nothing-has-this-id-';

/** A name such as `Bot` may be a part of another word. */
function replaceWord(text: string, word: string, by: string): string {
  const escaped = word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return text.replaceAll(new RegExp(`(?<![\\w-])${escaped}(?![\\w-])`, 'g'), by);
}

function neutral(text: string, ids: readonly string[]): string {
  const named = ids.reduce((all, id) => replaceWord(all, id, '<id>'), text);
  return named.replaceAll(new RegExp(`${UNKNOWN}\\d+`, 'g'), '<id>').replaceAll(/[0-9a-f-]{36}/g, '<request>');
}

function leaksOf(text: string, ids: readonly string[]): readonly string[] {
  return ids.filter((id) => replaceWord(text, id, '') !== text);
}
