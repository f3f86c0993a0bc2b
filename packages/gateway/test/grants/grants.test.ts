import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, waitFor } from '../../src/testing/index.ts';
import { holdLock } from '../support/held-lock.ts';
import { type Database, databases, locationOf } from '../support/stores.ts';
import { type Office, openOffice, PAY, type PaidCall, pays, says } from './office.ts';

describe.each(databases)('grants on $kind', ({ kind, create }) => {
  const { next, model } = says();
  let database: Database;
  let office: Office;
  beforeAll(async () => {
    database = await create();
    office = await openOffice({ next, model, ...locationOf(database) });
  });
  afterAll(async () => {
    await office.gateway.stop();
    await database.remove();
  });

  const api = (path: string, body?: object, more?: object) => office.gateway.api(path, body, more);
  const waits = ({ pending }: PaidCall) => pending?.status === 'pending';
  const active = async () => (await api('/api/grants?status=active')).items;
  const grantOf = (id: string) => api(`/api/grants/${id}`);
  const revoke = (id: string, key?: string) =>
    office.gateway.request(`/api/grants/${id}`, undefined, { method: 'DELETE', key });
  afterEach(async () => {
    next.length = 0;
    for (const { id } of await active()) expect((await revoke(id)).status).toBe(200);
  });
  /** The file of a gateway is opened only by the gateway and by the test. */
  const change = async (text: string) => {
    if (kind === 'sqlite') {
      const file = new DatabaseSync(join(database.location, 'lastcall.db'));
      file.exec(text);
      file.close();
    } else {
      const store = await database.open();
      await store.transaction((tx) => sql.raw(text).execute(tx.db));
      await store.close();
    }
  };
  /** Approves a call with a grant, and waits until it has run. */
  const grant = async (given: object, { input = { amount: 5 }, key }: { input?: object; key?: string } = {}) => {
    const asked = await office.pay(input);
    expect(waits(asked)).toBe(true);
    const { status, body } = await office.answer(asked, { approve: true, grant: given }, key);
    expect([status, body]).toEqual([200, expect.objectContaining({ grantId: expect.any(String) })]);
    await waitFor(async () => (await api(`/api/runs/${body.runId}`)).status === 'completed');
    return { asked, id: body.grantId as string, runId: body.runId as string };
  };

  test('[O9] a call that a grant covers runs without waiting, and its row, its card, its run and the list name the grant', async () => {
    const { asked, id } = await grant({ for: 'always' });
    const paid = await office.pay({ amount: 7 });
    expect(paid).toMatchObject({ grantId: id, status: 'ok', outcome: { status: 'ok', value: 'Paid.' } });
    expect(paid.pending).toBeUndefined();
    expect(paid.card.call).toMatchObject({ kind: 'approval', decision: 'approve', grantId: id });
    expect(await office.call(asked.callId)).toMatchObject({
      card: { call: { givenGrantId: id, decision: 'approve' } },
      pending: { status: 'resolved' },
    });
    const { items } = await api(`/api/runs/${paid.runId}/transcript`);
    expect(items.find((one: { kind: string }) => one.kind === 'settled').grantId).toBe(id);
    expect(await api(`/api/runs/${paid.runId}/calls/${paid.callId}`)).toMatchObject({ grantId: id });
    expect(await grantOf(id)).toMatchObject({
      ...{ agentId: office.clerk, toolName: 'pay', for: 'always', conditions: [], reach: 'agent', status: 'active' },
      ...{ callId: asked.callId, spaceId: office.space, uses: 1, lastUsedAt: expect.any(Number) },
    });
  });

  test('[O9] a grant that is revoked covers nothing more, and stays in the list with its end', async () => {
    const { id } = await grant({ for: 'always' });
    expect((await revoke(id)).status).toBe(200);
    expect(waits(await office.pay({ amount: 7 }))).toBe(true);
    const ended = await grantOf(id);
    expect(ended).toMatchObject({ status: 'ended', endReason: 'revoked', endedAt: expect.any(Number), uses: 0 });
    expect(await (await revoke(id)).json()).toEqual(ended);
    expect((await api('/api/grants?status=ended')).items.map((one: { id: string }) => one.id)).toContain(id);
    expect(await active()).toEqual([]);
  });

  test('[O9] a grant is also revoked by its id in the query, and has an entry in the audit', async () => {
    const { id } = await grant({ for: 'always' });
    const revokeNamed = (query: string, key?: string) =>
      office.gateway.request(`/api/grants${query}`, undefined, { method: 'DELETE', key });
    expect((await revokeNamed('')).status).toBe(422);
    expect((await revokeNamed('?id=none')).status).toBe(404);
    expect(await (await revokeNamed(`?id=${id}`)).json()).toMatchObject({ id, status: 'ended', endReason: 'revoked' });
    expect((await api('/api/audit?action=delete_grants')).items).toMatchObject([{ subject: { kind: 'grant', id } }]);
  });

  test('[O9] a grant never covers a tool that has changed since, also if the tool is changed back', async () => {
    const { id } = await grant({ for: 'always' });
    const describeAs = (description: string) => api('/api/tools/pay', { description }, { method: 'PATCH' });
    await describeAs('Pays an invoice, and tips.');
    expect(waits(await office.pay({ amount: 7 }))).toBe(true);
    expect(await grantOf(id)).toMatchObject({ status: 'ended', endReason: 'tool_changed', uses: 0 });
    await describeAs('Pays an invoice.');
    expect(waits(await office.pay({ amount: 7 }))).toBe(true);
  });

  test('[O9] a grant never covers another agent', async () => {
    const { id } = await grant({ for: 'always' });
    const other = await api('/api/agents', { name: 'Other clerk', instructions: 'Pay.', tools: ['pay'] });
    const { id: space } = await api('/api/spaces', { name: 'Other accounts' });
    for (const entityId of [other.entityId, office.ben.id]) await api(`/api/spaces/${space}/members`, { entityId });
    expect(waits(await office.pay({ amount: 5 }, { space }))).toBe(true);
    expect(await grantOf(id)).toMatchObject({ uses: 0, status: 'active' });
  });

  test('[O9] a grant never covers an input outside its conditions', async () => {
    const conditions = [
      { field: '/amount', atLeast: 1, atMost: 100 },
      { field: '/to', oneOf: ['Ada', 'Ben'] },
      { field: '/customer/id', equals: 7 },
    ];
    const fits = { amount: 100, to: 'Ben', customer: { id: 7, name: 'any' } };
    await grant({ for: 'always', conditions }, { input: fits });
    expect((await office.pay(fits)).outcome).toMatchObject({ status: 'ok' });
    const outside: object[] = [
      { ...fits, amount: 100.01 },
      { ...fits, amount: 0 },
      { ...fits, to: 'Mallory' },
      { amount: 100, customer: { id: 7 } },
      { ...fits, customer: { id: '7' } },
      { ...fits, customer: {} },
    ];
    for (const input of outside) expect([input, waits(await office.pay(input))]).toEqual([input, true]);
  });

  test('[O9] a condition never holds for what the JSON of an input does not have, such as the length of an array', async () => {
    const asked = await office.pay({ amount: 5, customer: { id: [1, 2] } });
    const answerWith = async (field: string, equals: unknown) =>
      await office.answer(asked, { approve: true, grant: { for: 'hour', conditions: [{ field, equals }] } });
    for (const field of ['/customer/id/length', '/customer/id/00', '/customer/id/-1', '/customer/toString']) {
      const { status, body } = await answerWith(field, field.endsWith('length') ? 2 : 1);
      expect([field, status, body.error?.code]).toEqual([field, 422, 'invalid_answer']);
    }
    expect((await answerWith('/customer/id/0', 1)).status).toBe(200);
  });

  test('[O9] a grant for one hour expires by the clock of the store', async () => {
    const { id } = await grant({ for: 'hour' });
    const { createdAt, expiresAt } = await grantOf(id);
    expect(expiresAt - createdAt).toBe(3_600_000);
    expect((await office.pay({ amount: 7 })).grantId).toBe(id);
    await change(`update grants set expires_at = ${createdAt} where id = '${id}'`);
    expect(waits(await office.pay({ amount: 7 }))).toBe(true);
    expect(await grantOf(id)).toMatchObject({ status: 'ended', endReason: 'expired' });
  });

  test('[O9] a grant for the run covers the run that continues with the approval, and ends with it', async () => {
    const asked = await office.pay({ amount: 5 });
    next.push(pays({ amount: 6 }));
    const { body } = await office.answer(asked, { approve: true, grant: { for: 'run' } });
    await waitFor(async () => (await api(`/api/runs/${body.runId}`)).status === 'completed');
    const { items } = await api(`/api/runs/${body.runId}/transcript`);
    const settled = items.filter((one: { kind: string }) => one.kind === 'settled');
    expect(settled.map((one: { grantId?: string }) => one.grantId)).toEqual([undefined, body.grantId]);
    expect(await grantOf(body.grantId)).toMatchObject({ status: 'ended', endReason: 'run_ended', uses: 1 });
    expect(waits(await office.pay({ amount: 7 }))).toBe(true);
  });

  test('[O9] a grant of a person covers what that person could approve, until they leave the space', async () => {
    const { ada } = office;
    const { id } = await grant({ for: 'hour' }, { key: ada.token });
    expect(await grantOf(id)).toMatchObject({ reach: 'thread', grantedBy: ada.id, grantedByName: 'Ada' });
    expect((await office.pay({ amount: 7 })).grantId).toBe(id);
    const { id: space } = await api('/api/spaces', { name: 'Elsewhere' });
    const { entityId } = await api(`/api/agents/${office.clerk}`);
    for (const member of [entityId, ada.id, office.ben.id])
      await api(`/api/spaces/${space}/members`, { entityId: member });
    expect(waits(await office.pay({ amount: 7 }, { space }))).toBe(true);
    await api(`/api/spaces/${office.space}/members?entityId=${ada.id}`, undefined, { method: 'DELETE' });
    expect(waits(await office.pay({ amount: 7 }))).toBe(true);
    await api(`/api/spaces/${office.space}/members`, { entityId: ada.id });
  });

  test('[O9] a person sees and revokes only grants of their own; operators see all', async () => {
    const { id } = await grant({ for: 'hour' }, { key: office.ada.token });
    const listed = async (key: string) => (await api('/api/grants?status=active', undefined, { key })).items;
    expect((await listed(office.ada.token)).map((one: { id: string }) => one.id)).toEqual([id]);
    expect(await listed(office.ben.token)).toEqual([]);
    expect((await revoke(id, office.ben.token)).status).toBe(404);
    const exported = await office.gateway.request(`/api/export?entityId=${office.ada.id}`);
    expect(await exported.text()).toContain(`{"type":"grant","id":"${id}"`);
    expect((await revoke(id, office.ada.token)).status).toBe(200);
    expect(await grantOf(id)).toMatchObject({ endedBy: office.ada.id });
  });

  test('[O9] only operators may grant calls for always, and a refused grant leaves the call waiting', async () => {
    const asked = await office.pay({ amount: 5 });
    const { status, body } = await office.answer(asked, { approve: true, grant: { for: 'always' } }, office.ada.token);
    expect([status, body.error.code]).toEqual([403, 'forbidden']);
    expect(waits(await office.call(asked.callId))).toBe(true);
    expect(await active()).toEqual([]);
  });

  test('[O9] an answer with a grant is idempotent; a denial, a late answer and a wrong grant give none', async () => {
    const asked = await office.pay({ amount: 5 });
    const refused = async (given: object) => (await office.answer(asked, given)).status;
    const approve = { approve: true };
    expect(await refused({ deny: 'No.', grant: { for: 'hour' } })).toBe(422);
    expect(await refused({ ...approve, grant: { for: 'week' } })).toBe(422);
    const wrong = [
      [{ field: 'amount', equals: 5 }],
      [{ field: '/amount' }],
      [{ field: '/amount', equals: 6 }],
      [{ field: '/to', oneOf: ['Ada'] }],
    ];
    for (const conditions of wrong) expect(await refused({ ...approve, grant: { for: 'hour', conditions } })).toBe(422);
    expect(await active()).toEqual([]);
    const given = { ...approve, grant: { for: 'hour', conditions: [{ field: '/amount', equals: 5 }] } };
    const first = await office.answer(asked, given);
    const again = await office.answer(asked, given);
    expect(again.body).toEqual({ ...first.body, duplicate: true });
    expect(await refused(approve)).toBe(409);
    expect(await refused({ ...approve, grant: { for: 'always' } })).toBe(409);
    expect((await active()).map((one: { id: string }) => one.id)).toEqual([first.body.grantId]);
  });

  test('[O9] [O11] the audit says who granted and who revoked', async () => {
    const { id } = await grant({ for: 'hour' }, { key: office.ada.token });
    await revoke(id);
    const { items } = await api(`/api/audit?subject=${id}`);
    expect(items).toMatchObject([
      { action: 'delete_grants_id', subject: { kind: 'grant', id } },
      { action: 'post_runs_runId_tool_results', subject: { kind: 'grant', id }, actor: { entityId: office.ada.id } },
    ]);
  });

  test('[O9] the grants of a deleted tool and of a deleted agent end', async () => {
    const made = async (name: string, tool: string) => {
      await api('/api/tools', { ...PAY, name: tool });
      const agent = await api('/api/agents', { name, instructions: 'Pay.', tools: [tool] });
      next.push([{ toolName: tool, input: { amount: 5 } }]);
      const { run_id, pending_calls } = await api('/api/chat', { agent: agent.id, message: 'Pay.' });
      const answered = await api(`/api/runs/${run_id}/tool-results`, {
        callId: pending_calls[0].tool_call_id,
        ...{ approve: true, grant: { for: 'always' } },
      });
      await waitFor(async () => (await api(`/api/runs/${answered.runId}`)).status === 'completed');
      return { agent: agent.id as string, grant: answered.grantId as string };
    };
    const [one, other] = [await made('First', 'pay_first'), await made('Second', 'pay_second')];
    await api('/api/tools/pay_first', undefined, { method: 'DELETE' });
    await api(`/api/agents/${other.agent}`, undefined, { method: 'DELETE' });
    expect(await grantOf(one.grant)).toMatchObject({ status: 'ended', endReason: 'tool_deleted' });
    expect(await grantOf(other.grant)).toMatchObject({ status: 'ended', endReason: 'agent_deleted' });
  });

  test('[O9] when a tool of an agent is deleted, its grants for other tools go on', async () => {
    for (const name of ['pay_once', 'pay_more']) await api('/api/tools', { ...PAY, name });
    const agent = await api('/api/agents', { name: 'Two', instructions: 'Pay.', tools: ['pay_once', 'pay_more'] });
    const grants: string[] = [];
    for (const toolName of ['pay_once', 'pay_more']) {
      next.push([{ toolName, input: { amount: 5 } }]);
      const { run_id, pending_calls } = await api('/api/chat', { agent: agent.id, message: 'Pay.' });
      const answered = await api(`/api/runs/${run_id}/tool-results`, {
        callId: pending_calls[0].tool_call_id,
        ...{ approve: true, grant: { for: 'always' } },
      });
      await waitFor(async () => (await api(`/api/runs/${answered.runId}`)).status === 'completed');
      grants.push(answered.grantId);
    }
    await api('/api/tools/pay_once', undefined, { method: 'DELETE' });
    const [ended, other] = [await grantOf(grants[0] as string), await grantOf(grants[1] as string)];
    expect(ended).toMatchObject({ status: 'ended', endReason: 'tool_deleted' });
    expect(other).toMatchObject({ status: 'active' });
  });

  test('[O9] an agent has at most 100 grants of a tool for always, and those for other tools or of other agents do not count', async () => {
    const { id } = await grant({ for: 'always', conditions: [{ field: '/amount', equals: 5 }] });
    const columns = [
      ...['lasts', 'conditions', 'definition', 'reach', 'run_id', 'thread_id', 'space_id'],
      ...['granted_by', 'created_at', 'expires_at', 'ended_at', 'end_reason', 'ended_by'],
    ].join(', ');
    const copy = async (name: string, count: number, { tool = 'pay', agentId = office.clerk } = {}) => {
      const copies = Array.from({ length: count }, (_, at) => `select '${name}-${at}' as copy`).join(' union all ');
      await change(
        `insert into grants (id, call_id, tool_name, agent_id, ${columns})
         select copy, copy, '${tool}', '${agentId}', ${columns} from grants, (${copies}) as copies where id = '${id}'`,
      );
    };
    const grantFor = async (amount: number) =>
      await office.answer(await office.pay({ amount }), {
        ...{ approve: true, grant: { for: 'always', conditions: [{ field: '/amount', equals: amount }] } },
      });
    await copy('other', 100, { tool: 'other' });
    await copy('foreign', 100, { agentId: 'another agent' });
    await copy('pay', 98);
    const granted = await grantFor(6);
    expect(granted.status).toBe(200);
    // The run that goes on would ask for the next payment.
    await waitFor(async () => (await api(`/api/runs/${granted.body.runId}`)).status === 'completed');
    const refused = await grantFor(7);
    expect([refused.status, refused.body.error?.code]).toEqual([422, 'too_many']);
    await change("delete from grants where id like 'other-%' or id like 'foreign-%' or id like 'pay-%'");
  });

  test('[O9] a tool can forbid grants, and its cards say so', async () => {
    await api('/api/tools/pay', { grants: false }, { method: 'PATCH' });
    const asked = await office.pay({ amount: 5 });
    expect(asked).toMatchObject({ card: { call: { mayGrant: false } }, pending: { mayGrant: false } });
    const { status, body } = await office.answer(asked, { approve: true, grant: { for: 'run' } });
    expect([status, body.error.message]).toEqual([422, expect.stringContaining('cannot be granted')]);
    await api('/api/tools/pay', { grants: null }, { method: 'PATCH' });
  });

  // SQLite runs one gateway, and one transaction after the other.
  if (kind === 'sqlite') return;

  test('[O9] a call waits for an active revocation on another gateway, and is not covered', async () => {
    const { id } = await grant({ for: 'always' });
    const revocation = await holdLock(
      database,
      "update grants set ended_at = 1, end_reason = 'revoked' where id = $1",
      [id],
    );
    const paying = office.pay({ amount: 7 });
    await revocation.waitedFor({ orDone: paying });
    await revocation.release();
    expect(waits(await paying)).toBe(true);
    expect(await grantOf(id)).toMatchObject({ uses: 0, endReason: 'revoked' });
  });

  test('[O9] a grant that is revoked on one gateway is gone on the other at once', async () => {
    const other = await startTestGateway({ model, ...locationOf(database) });
    try {
      for (let round = 0; round < 5; round++) {
        const { id } = await grant({ for: 'always' });
        expect((await office.pay({ amount: 7 }, { through: other })).grantId).toBe(id);
        const through = round % 2 === 0 ? other : office.gateway;
        const elsewhere = round % 2 === 0 ? office.gateway : other;
        expect((await through.request(`/api/grants/${id}`, undefined, { method: 'DELETE' })).status).toBe(200);
        expect(waits(await office.pay({ amount: 7 }, { through: elsewhere }))).toBe(true);
      }
    } finally {
      await other.stop();
    }
  });
});
