import { describe, expect, test } from 'vitest';
import { createSession, findSession } from '../../src/domain/keys/session.ts';
import { createSignInCode, listLinks, revokeLink, takeSignInCode } from '../../src/domain/keys/sign-in-link.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { runStatements } from '../support/run-statements.ts';
import { databases } from '../support/stores.ts';
import { undoMigrationsFrom } from './undo-migrations.ts';

describe.each(databases)('links and sessions of an earlier version on $kind', ({ create }) => {
  const database = forEachTest(create);

  test('[G66] they go on, and the links can be listed and revoked', async () => {
    const before = await database.open();
    const maker = { scopes: ['admin'], keyId: undefined, sessionId: undefined } as const;
    const grant = { scopes: maker.scopes, entityId: undefined, keyId: undefined, makerSessionId: undefined };
    const [used, revoked, secret] = await before.transaction(async (tx) => [
      (await createSignInCode(tx, { maker })).code,
      (await createSignInCode(tx, { maker })).code,
      (await createSession(tx, grant)).secret,
    ]);
    await before.close();
    await runStatements(database, undoMigrationsFrom('0032'));
    const after = await database.open();
    expect(await after.transaction((tx) => takeSignInCode(tx, used ?? ''))).toEqual(grant);
    expect(await findSession(after.db, { secret: secret ?? '' }, Date.now())).toMatchObject({ scopes: ['admin'] });
    const { items } = await after.transaction((tx) => listLinks(tx));
    expect(items).toHaveLength(1);
    await after.transaction((tx) => revokeLink(tx, items[0]?.id ?? ''));
    await expect(after.transaction((tx) => takeSignInCode(tx, revoked ?? ''))).rejects.toMatchObject({
      details: { reason: 'revoked' },
    });
    await after.close();
  });
});
