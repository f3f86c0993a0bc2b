import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { PROJECT_RULES } from '../../src/transport/http/project-rules.ts';
import type { Document } from '../http/api.ts';
import { type SentRequest, sendRequest } from '../rights/send-request.ts';
import { openStage, type Stage } from '../rights/stage.ts';
import { ALIASES, TABLE } from '../rights/table.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { rowsWritten } from '../support/rows-written.ts';

/**
 * Calls every operation with the credentials of another project: once with the ids of things that exist, and once with ids of
 * nothing. The two answers must be the same, no answer may contain anything of the first project, and nothing of it may change.
 */
describe('[O1] access from another project', () => {
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
      // One request for all callers, because it must not change anything.
      const asked = { operation, ...(await request(stage, 'admin')) };
      // Signing in has an entry in the audit, so all of them sign in first: a session for each request.
      const callers: { caller: string; own: Headers; another: Headers }[] = [];
      for (const [caller, credentials] of Object.entries(stage.others))
        callers.push({ caller, own: await credentials(), another: await credentials() });
      await stage.idle();
      const ids = await planted(stage);
      const aboutNothing = withoutIds(asked, ids);
      const isAboutSomething = JSON.stringify(aboutNothing) !== JSON.stringify(asked);
      let before = await snapshotOf(stage);
      for (const { caller, own, another } of callers) {
        const answer = await send(asked, own);
        const unknown = isAboutSomething ? await send(aboutNothing, another) : answer;
        // An accepted webhook wakes an agent, whose run must not look like a change by the next caller.
        if (answer.status < 300) await stage.idle();
        const after = await snapshotOf(stage, before);
        expect(rowsWithout(before, after), `${operation} as ${caller} changed rows`).toEqual([]);
        expect(answer.status, `${operation} as ${caller}: ${answer.text}`).toBe(unknown.status);
        expect(answer.status, answer.text).toBeLessThan(500);
        if (answer.status >= 400) {
          expect(rowsWithout(after, before), `${operation} as ${caller} added rows`).toEqual([]);
          expect(neutral(answer.text, ids)).toBe(neutral(unknown.text, ids));
        } else if (operation !== SIGN_IN)
          expect(leaksOf(answer.text, ids), `${operation} as ${caller}: ${answer.text}`).toEqual([]);
        assertChecked(operation, caller, answer.status);
        before = after;
      }
    },
  );

  /** Operations whose ids are checked answer 404 to keys that may use them. */
  function assertChecked(operation: string, caller: string, status: number): void {
    const rule = PROJECT_RULES[operation];
    if (caller === 'admin' && typeof rule === 'object') expect(status).toBe(404);
  }

  async function send(asked: SentRequest, credentials: Headers) {
    const { answer, isStream, leaving } = await sendRequest(stage.url, asked, credentials);
    const text = isStream ? await beginningOf(answer, leaving) : await answer.text();
    return { status: answer.status, text };
  }
});

/** It takes a key, and shows that key's own id. */
const SIGN_IN = 'POST /api/session';

/** The first part of a stream. */
async function beginningOf({ body }: Response, leaving: AbortController): Promise<string> {
  setTimeout(() => leaving.abort(), 100);
  let text = '';
  try {
    for await (const chunk of body ?? []) text += new TextDecoder().decode(chunk);
  } catch {
    // The stream was aborted.
  }
  return text;
}

type Headers = Readonly<Record<string, string>>;
type Credentials = () => Promise<Headers>;

/** Keys, a token and sessions of a project that has only a person. */
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
  const session = async (body: object): Promise<Headers> => {
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

/** Tables whose rows workers write at any time, and tables that belong to no project. `sqlite_sequence` counts rows of other tables. */
const NOT_COMPARED: ReadonlySet<string> = new Set([
  ...['threads', 'streams', 'stream_events', 'request_texts', 'transcript_entries', 'usage', 'usage_requests'],
  ...['settings', 'key_rates', 'sessions', 'sign_in_links', 'sqlite_sequence'],
]);

interface Snapshot {
  /** How many rows have been written so far. */
  readonly writes: number;
  readonly rows: ReadonlySet<string>;
}

/** Reads the rows only if any was written since the last snapshot: most requests write none. */
async function snapshotOf({ api }: Stage, last?: Snapshot): Promise<Snapshot> {
  const { db } = api.services.store;
  const writes = await rowsWritten(db);
  if (writes === last?.writes) return last;
  const tables = await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(db);
  const rows = new Set<string>();
  for (const { name } of tables.rows) {
    if (NOT_COMPARED.has(name)) continue;
    const all = await sql`select * from ${sql.table(name)}`.execute(db);
    for (const row of all.rows) rows.add(`${name} ${JSON.stringify(row)}`);
  }
  return { writes, rows };
}

function rowsWithout({ rows }: Snapshot, others: Snapshot): readonly string[] {
  return rows === others.rows ? [] : [...rows].filter((row) => !others.rows.has(row));
}

const isDefault = sql<boolean>`coalesce(api_keys.project_id, 'default') = 'default'`;

/** The ids and names of everything that belongs to the first project. */
async function planted({ api }: Stage): Promise<RegExp> {
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
  return wordsOf([...new Set(texts)]);
}

/** Finds them as whole words, the longest first: a name such as `Bot` may be a part of another word, or of another name. */
function wordsOf(texts: readonly string[]): RegExp {
  const escaped = texts
    .toSorted((one, other) => other.length - one.length)
    .map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`(?<![\\w-])(?:${escaped.join('|')})(?![\\w-])`, 'g');
}

/** The same request about things that do not exist. */
function withoutIds<T extends object>(asked: T, ids: RegExp): T {
  return JSON.parse(JSON.stringify(asked), (_, value) =>
    typeof value === 'string' ? value.replaceAll(ids, (id) => `${UNKNOWN}${id.length}`) : value,
  );
}

const UNKNOWN = 'nothing-has-this-id-';

function neutral(text: string, ids: RegExp): string {
  const named = text.replaceAll(ids, '<id>');
  return named.replaceAll(new RegExp(`${UNKNOWN}\\d+`, 'g'), '<id>').replaceAll(/[0-9a-f-]{36}/g, '<request>');
}

function leaksOf(text: string, ids: RegExp): readonly string[] {
  return text.match(ids) ?? [];
}
