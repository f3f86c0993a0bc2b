import { describe, expect, test } from 'vitest';
import type { Document } from '../http/api.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { sendRequest } from './send-request.ts';
import { CALLERS, type CallerName, openStage } from './stage.ts';
import { ALIASES, type Expected, type Row, TABLE } from './table.ts';

describe('[G51] rights', () => {
  const stage = forAllTests(openStage);

  test('[G51] the table of rights has every path and method of the OpenAPI document, and no other', async () => {
    const { paths } = (await (await fetch(`${stage.url}/openapi.json`)).json()) as Document;
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(Object.keys(TABLE).toSorted()).toEqual(operations.toSorted());
  });

  test.each(Object.entries({ ...TABLE, ...ALIASES }))(
    '[G51] %s does what its row of the table says for every caller, and changes nothing for those it refuses',
    async (operation, row) => {
      const refused = CALLERS.filter((caller) => row.rights[caller] !== 'ok');
      const sendings: { caller: CallerName; send: () => Promise<Expected> }[] = [];
      for (const caller of refused) sendings.push({ caller, send: await prepare(operation, row, caller) });
      const got: Partial<Record<CallerName, Expected>> = {};
      await stage.idle();
      const before = await stage.stored();
      for (const { caller, send } of sendings) got[caller] = await send();
      expect(await stage.stored(), `${operation} as one of ${refused.join(', ')}`).toEqual(before);
      for (const caller of CALLERS) got[caller] ??= await (await prepare(operation, row, caller))();
      expect(got).toEqual(row.rights);
    },
  );

  /** Makes what the request needs, and signs in. Sending it writes what the request itself writes, and nothing else. */
  async function prepare(operation: string, { request }: Row, caller: CallerName): Promise<() => Promise<Expected>> {
    const asked = { operation, ...(await request(stage, caller)) };
    const credentials = await stage.credentials(caller);
    return async () => {
      const { answer, isStream, leaving } = await sendRequest(stage.url, asked, credentials);
      if (isStream) leaving.abort();
      else await answer.text();
      return answer.ok ? 'ok' : answer.status;
    };
  }
});
