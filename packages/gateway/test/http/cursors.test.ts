import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromCursor, toCursor } from '../../src/transport/http/cursor.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { onSqlite } from '../support/stores.ts';
import { type Document, openApi } from './api.ts';

interface Listed {
  readonly items: readonly { readonly id: string }[];
  readonly next?: string;
}

describe('cursors', () => {
  const database = forAllTests(onSqlite.create);
  const api = forAllTests(() => openApi(database));

  test('[G54] a cursor that is not the `next` of a page is refused by every list', async () => {
    const agent = await api.agent();
    const ids: Readonly<Record<string, string>> = {
      '/api/agents': agent,
      '/api/runs': await api.run(agent),
      '/api/spaces': await api.space(),
      '/api/evaluations': (await api.done<{ id: string }>('POST', '/api/evaluations', { name: 'e' })).id,
      '/contexts': (await api.done<{ id: string }>('POST', '/contexts', { agent })).id,
    };
    const { paths } = await api.done<Document & Record<string, unknown>>('GET', '/openapi.json');
    const lists = Object.entries(paths).filter(([, { get }]) => get?.parameters.some(({ name }) => name === 'cursor'));
    expect(lists.length).toBeGreaterThan(25);
    for (const [template] of lists) {
      const collection = template.slice(0, Math.max(0, template.indexOf('/{')));
      const path = `${template.replace('{id}', ids[collection] ?? '')}?${template === '/api/search' ? 'q=a&' : ''}`;
      for (const cursor of ['abc', '~', 'c.', 'c.*', 'c.YWJj!', 'eyJhIjoxfQ', '%00', '', agent.slice(1)]) {
        const { status, body } = await api.call('GET', `${path}cursor=${cursor}`);
        expect([path, cursor, status, body.error?.details.path]).toEqual([path, cursor, 422, 'cursor']);
      }
    }
  });

  test('[G54] a list whose ids were chosen is read page by page, and an id is no cursor', async () => {
    for (const id of ['1', 'a', 'c', 'c-']) await api.done('POST', '/api/spaces', { id, name: 'Space' });
    const { items: all } = await api.done<Listed>('GET', '/api/spaces');
    const found = [];
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const query = cursor === undefined ? '' : `&cursor=${cursor}`;
      const page = await api.done<Listed>('GET', `/api/spaces?limit=1${query}`);
      found.push(...page.items);
      cursor = page.next;
    }
    expect(found).toEqual(all);
    expect(all.length).toBeGreaterThan(3);
    expect((await api.call('GET', '/api/spaces?cursor=a')).body.error.message).toBe(
      'cursor must be the `next` of an earlier page.',
    );
  });

  test('[G54] messages after one that the space has not reached are refused, so that a client notices a restored backup', async () => {
    const [ada, stranger] = [await api.person('Ada'), await api.person('Eve')];
    const space = await api.space(ada);
    const list = `/api/spaces/${space}/messages`;
    await api.done('POST', list, { entityId: ada, text: 'One' });
    const { items } = await api.done<{ items: { seq: number }[] }>('GET', list);
    const last = items.at(-1)?.seq ?? 0;
    expect(await api.done('GET', `${list}?after=${last}`)).toEqual({ items: [], hasMore: false });
    const ahead = await api.call('GET', `${list}?after=${last + 1}`);
    expect([ahead.status, ahead.body.error.details]).toEqual([422, { path: 'after', lastSeq: last }]);
    expect(ahead.body.error.message).toContain('load the messages again');
    const secret = await api.tokenOf(stranger);
    expect((await api.call('GET', `${list}?after=${last + 1}`, { secret })).status).toBe(404);
  });

  test('an id that the gateway made is a position too: the page after a run has the one before it', async () => {
    const [one, two] = [await api.run(await api.agent()), await api.run(await api.agent())];
    const before = await api.done<Listed>('GET', `/api/runs?limit=1&cursor=${two}`);
    expect(before.items.map(({ id }) => id)).toEqual([one]);
  });

  test('any text is read back from its cursor, and a cursor is plain in a URL', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 500 }), (text) => {
        const cursor = toCursor(text);
        expect(fromCursor(cursor)).toBe(text);
        expect(encodeURIComponent(cursor)).toBe(cursor);
        expect(cursor.length).toBeLessThan(2_700);
      }),
    );
  });
});
