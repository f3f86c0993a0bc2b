import { once } from 'node:events';
import { connect } from 'node:net';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import type { HookScheme } from '../../src/config/hook-config.ts';
import { assertSigned } from '../../src/domain/hooks/hook-signature.ts';
import { createGateway, type GatewayOptions } from '../../src/gateway.ts';
import { startTestGateway, waitFor } from '../../src/testing/index.ts';
import { hookConfig, post, SECRETS, send } from './senders.ts';

const valid = { agent: 'Clerk', verify: 'github', secret: '${env.HOOK_github}' } as const;

function problemOf(hooks: object, more: object = {}): string {
  try {
    createGateway({ ...hookConfig, ...more, hooks: hooks as GatewayOptions['hooks'] });
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return '';
}

describe('the configuration of hooks', () => {
  test.each([
    [
      'an agent that does not exist',
      { x: { ...valid, agent: 'Nobody' } },
      'hooks.x.agent is not an agent of this configuration',
    ],
    [
      'a scheme that does not exist',
      { x: { ...valid, verify: 'none' } },
      'hooks.x.verify must be "standard", "github"',
    ],
    [
      'a secret in the file',
      { x: { ...valid, secret: 'a secret in the file' } },
      'hooks.x.secret must be "${env.NAME}"',
    ],
    ['no secret', { x: { ...valid, secret: [] } }, 'hooks.x.secret must be 1 or more'],
    [
      'a variable that is not listed',
      { x: { ...valid, secret: '${env.OTHER}' } },
      'names OTHER, which is not on the list',
    ],
    ['a name with a slash', { 'x/y': valid }, '1–64 letters'],
    ['answers of a service with its own events', { x: { ...valid, answers: ['haul'] } }, 'needs verify: "standard"'],
    [
      'answers for a tool that is none',
      { x: { agent: 'Clerk', verify: 'standard', secret: '${env.HOOK_standard}', answers: ['haul'] } },
      'hooks.x.answers[0] is not an external tool',
    ],
  ])('[O7] with %s is refused', (_what, hooks, message) => {
    expect(problemOf(hooks)).toContain(message);
  });

  test.each([
    ['missing', undefined, 'github'],
    ['short', 'short', 'github'],
    ['short when it is decoded', 'whsec_c2hvcnQ=AAAAAAAAAAAAAAA', 'standard'],
  ] as const)('[O7] a secret that is %s is refused, and not shown', (_what, value, verify) => {
    const hooks = { x: { ...valid, verify, secret: '${env.SHORT}' } };
    const problem = problemOf(hooks, { secrets: ['SHORT'], env: { SHORT: value } });
    expect(problem).toContain('environment: SHORT is needed by hooks.x.secret');
    if (value !== undefined) expect(problem).not.toContain(`"${value}"`);
  });

  test('[O7] while a secret is replaced, the old and the new one are accepted', async () => {
    const [old, fresh] = ['the old secret of the forge', 'the new secret of the forge'];
    await using gateway = await startTestGateway({
      ...hookConfig,
      hooks: { forge: { ...valid, secret: ['${env.FRESH}', '${env.OLD}'] } },
      secrets: ['FRESH', 'OLD'],
      env: { FRESH: fresh, OLD: old },
    });
    for (const secret of [old, fresh])
      expect((await post(gateway.url, 'forge', send('github', { secret }))).status).toBe(200);
    expect((await post(gateway.url, 'forge', send('github'))).status).toBe(401);
  });
});

describe('examples that the services publish', () => {
  test('[O7] have the signatures of their documentation', async () => {
    const examples: readonly (readonly [HookScheme, Record<string, string>, string, number])[] = [
      [
        'github',
        {
          'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
          'x-github-delivery': '1',
          'x-github-event': 'push',
        },
        'Hello, World!',
        0,
      ],
      [
        'slack',
        {
          'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
          'x-slack-request-timestamp': '1531420618',
        },
        'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
        1_531_420_618_000,
      ],
    ];
    for (const [scheme, headers, text, now] of examples) {
      const request = { headers: new Headers(headers), secrets: [SECRETS[scheme]], now };
      await assertSigned(scheme, { ...request, body: Buffer.from(text) });
      await expect(assertSigned(scheme, { ...request, body: Buffer.from(`${text} `) })).rejects.toThrow('not valid');
    }
  });
});

describe('a sender that is slow, or an agent that cannot take more', () => {
  test('[O13] [O7] a body that arrives slowly delays no run, and is refused in the end', async () => {
    const model = scriptedModel(() => 'Noted.');
    await using gateway = await startTestGateway({ ...hookConfig, model, tuning: { bodyTimeoutMs: 3_000 } });
    const slow = send('github', { id: 'slow' });
    const head = Object.entries({ ...slow.headers, 'content-length': slow.body.length, host: 'gateway' });
    const begin = (headers: readonly (readonly [string, unknown])[], name = 'github') => {
      const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
      const lines = headers.map(([field, value]) => `${field}: ${value}`);
      socket.write(`POST /hooks/${name} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n{`);
      const answer = once(socket, 'data').then(([chunk]) => {
        socket.destroy();
        return String(chunk);
      });
      return { answer };
    };
    const slowOnes = Array.from({ length: 5 }, () => begin(head));
    // A request that cannot be genuine is answered before its body has arrived.
    expect(await begin(head, 'none').answer).toContain('404 Not Found');
    const unsigned = head.filter(([field]) => !field.includes('signature'));
    expect(await begin(unsigned).answer).toContain('401 Unauthorized');
    let answered = 0;
    for (const { answer } of slowOnes) void answer.then(() => answered++);
    expect((await post(gateway.url, 'github', send('github', { id: 'quick' }))).status).toBe(200);
    await waitFor(() => model.requests.length === 1);
    expect(answered).toBe(0);
    for (const { answer } of slowOnes) expect(await answer).toContain('body_timeout');
    const [{ id }] = (await gateway.api('/api/agents')).items;
    expect((await gateway.api(`/api/agents/${id}/inbox`)).items).toHaveLength(1);
  });

  test('[O7] the sender learns that it should try again, or that there is no hook, and nothing about the agent', async () => {
    await using gateway = await startTestGateway({ ...hookConfig, limits: { inboxLength: 1 } });
    const [{ id }] = (await gateway.api('/api/agents')).items;
    await gateway.request(`/api/agents/${id}/pause`, {});
    expect((await post(gateway.url, 'github', send('github'))).status).toBe(200);
    const full = await post(gateway.url, 'github', send('github'));
    expect([full.status, full.json.error.code]).toEqual([429, 'inbox_full']);
    expect(Number(full.headers.get('retry-after'))).toBeGreaterThan(0);
    await gateway.api(`/api/agents/${id}`, undefined, { method: 'DELETE' });
    const gone = await post(gateway.url, 'github', send('github'));
    expect([gone.status, gone.json.error.message]).toEqual([404, 'There is no hook "github".']);
    for (const { text } of [full, gone]) expect(text).not.toContain(id);
  });
});
