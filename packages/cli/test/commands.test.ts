import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@lastcall/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DemoSpace, KEY } from './support/demo-space.ts';
import { type Folder, makeFolder } from './support/folder.ts';
import { inProcess } from './support/in-process.ts';
import { BIN, type Ended, lastcall, Program } from './support/program.ts';

const env = { PORT: '0', LASTCALL_SECRET_KEY: KEY };

/** One gateway with the demo, for all commands that need one. */
let folder: Folder;
let gateway: Program;
let url: string;
let space: DemoSpace;

beforeAll(async () => {
  folder = await makeFolder();
  gateway = Program.lastcall(['start'], { folder: folder.path, env });
  url = await gateway.listens();
  space = new DemoSpace(url);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

type Variables = Readonly<Record<string, string>>;

const ask = (args: readonly string[], more: Variables = {}): ReturnType<typeof inProcess> =>
  inProcess([...args, '--url', url], { folder: folder.path, env: { ...env, ...more } });
const askAsProcess = (args: readonly string[], more: Variables = {}): Promise<Ended> =>
  lastcall([...args, '--url', url], { folder: folder.path, env: { ...env, ...more } });

test('[S12] a command exits with 3 and what to do if no gateway answers, or if the key is missing, wrong or too weak', async () => {
  const { code, err } = await lastcall(['keys', 'list', '--url', 'http://127.0.0.1:1'], { folder: folder.path, env });
  expect({ code, err }).toEqual({
    code: 3,
    err: 'No gateway answers at http://127.0.0.1:1. Start one with "lastcall start", or name its address with --url.\n',
  });
  expect(await askAsProcess(['keys', 'list'], { LASTCALL_SECRET_KEY: '' })).toMatchObject({
    code: 3,
    err: expect.stringMatching(/needs a key: set LASTCALL_SECRET_KEY/),
  });
  expect(await askAsProcess(['keys', 'list'], { LASTCALL_SECRET_KEY: 'another-key-altogether' })).toMatchObject({
    code: 3,
    err: expect.stringMatching(/does not know the key/),
  });
  const weak = (await ask(['keys', 'create', 'weak', '--scope', 'read'])).out.trim();
  expect(await askAsProcess(['keys', 'list'], { LASTCALL_SECRET_KEY: weak })).toMatchObject({
    code: 3,
    err: expect.stringMatching(/scope admin/),
  });
});
test('[S12] with --json, a command that fails prints its error as one JSON object, and the sentence for people on stderr', async () => {
  const refused = await askAsProcess(['run', 'Nobody', 'Hello', '--json']);
  expect(refused).toMatchObject({ code: 1, err: 'There is no agent "Nobody".\n' });
  expect(JSON.parse(refused.out)).toEqual({ error: { code: 'not_found', message: 'There is no agent "Nobody".' } });
  const invalid = await ask(['projects', 'create', 'No Id', '--json']);
  expect(JSON.parse(invalid.out).error).toMatchObject({ code: 'invalid_request', details: expect.anything() });
  const unknownKey = await ask(['keys', 'list', '--json'], { LASTCALL_SECRET_KEY: 'another-key-altogether' });
  expect({ code: unknownKey.code, ...JSON.parse(unknownKey.out) }).toMatchObject({
    code: 3,
    error: { code: 'unauthorized', message: expect.stringMatching(/does not know the key/) },
  });
  const unreached = await inProcess(['usage', '--json', '--url', 'http://127.0.0.1:1'], { folder: folder.path, env });
  expect(JSON.parse(unreached.out).error).toMatchObject({ code: 'unreachable' });
});

test('[S12] keys are created, listed and revoked, and a key works until it is revoked', async () => {
  const { code, out, err } = await askAsProcess(['keys', 'create', 'ci', '--scope', 'admin']);
  expect({ code, err }).toEqual({ code: 0, err: 'Shown this once:\n' });
  const key = out.trim();
  const listed = await ask(['keys', 'list', '--json'], { LASTCALL_SECRET_KEY: key });
  const { id } = JSON.parse(listed.out).find(({ name }: { name: string }) => name === 'ci');
  expect(await ask(['keys', 'revoke', id])).toMatchObject({ code: 0, out: 'Revoked ci.\n' });
  expect(await ask(['keys', 'list'], { LASTCALL_SECRET_KEY: key })).toMatchObject({ code: 3 });
  expect((await ask(['keys', 'list'])).out).toMatch(new RegExp(`^${id}  \\S+ +admin +revoked +ci$`, 'm'));
  await ask(['keys', 'create', 'brief', '--expires', new Date(Date.now() + 1_000).toISOString()]);
  await expect.poll(async () => (await ask(['keys', 'list'])).out).toMatch(/ expired +brief$/m);
});

test('[O8] targets are listed and tested, and what has failed is listed and sent again', async () => {
  const server = createServer((_request, response) => response.writeHead(isUp ? 200 : 500).end());
  let isUp = true;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await using own = await makeFolder({
    'lastcall.config.ts': `export default {
      notify: { ops: { webhook: { url: 'http://127.0.0.1:${port}', signingSecret: '\${env.NOTIFY_SECRET}' } } },
      secrets: ['NOTIFY_SECRET'],
      egress: { allow: ['127.0.0.1:${port}'] },
    };`,
  });
  const ownEnv = { ...env, NOTIFY_SECRET: 'a-secret-of-the-test' };
  await using other = Program.lastcall(['start'], { folder: own.path, env: ownEnv });
  const at = await other.listens();
  const say = (...args: string[]) => inProcess([...args, '--url', at], { folder: own.path, env: ownEnv });
  expect((await say('notify', 'targets')).out).toMatch(/^ops +webhook +default +call\.waiting, /m);
  expect((await say('notify', 'list')).out).toBe('There are no notifications.\n');
  const tested = await lastcall(['notify', 'test', 'ops', '--url', at], { folder: own.path, env: ownEnv });
  expect(tested).toMatchObject({ code: 0, out: 'The test was sent to ops.\n' });
  isUp = false;
  expect(await say('notify', 'test', 'ops')).toMatchObject({
    code: 1,
    err: 'The test did not arrive: It answered HTTP 500.\n',
  });
  const listed = JSON.parse((await say('notify', 'list', '--json')).out);
  expect(listed).toMatchObject([{ status: 'pending', error: 'It answered HTTP 500.' }, { status: 'sent' }]);
  expect((await say('notify', 'list', '--status', 'sent')).out).toContain(listed[1].id);
  expect(await say('notify', 'retry', listed[1].id)).toMatchObject({
    code: 1,
    err: expect.stringContaining('is sent'),
  });
  expect(await say('notify', 'test', 'nothing')).toMatchObject({ code: 1 });
  server.close();
});

test('[O1] projects are created, listed, changed and deleted, and commands act in the one of LASTCALL_PROJECT', async () => {
  expect(await ask(['projects', 'create', 'acme', '--name', 'Acme', '--per-day-tokens', '1000'])).toMatchObject({
    code: 0,
    out: 'Created the project acme.\n',
  });
  expect((await askAsProcess(['projects', 'list'])).out).toMatch(/^acme +Acme +1000 tokens a day$/m);
  // A limit that is not named stays.
  expect(await ask(['projects', 'update', 'acme', '--per-day', '5'])).toMatchObject({ code: 0 });
  expect((await ask(['projects', 'list'])).out).toMatch(/^acme +Acme +5 .*a day, 1000 tokens a day$/m);
  // Without its currency, a limit of money would count in another one when that of the configuration changes.
  const { projects } = createClient({ url, auth: { key: KEY } });
  await projects.update('acme', { spend: { perDay: 5, currency: 'USD' } });
  expect(await ask(['projects', 'update', 'acme', '--per-day-tokens', '2000'])).toMatchObject({ code: 0 });
  expect((await projects.get('acme')).spend).toEqual({ perDay: 5, perDayTokens: 2_000, currency: 'USD' });
  expect(await ask(['projects', 'update', 'acme', '--per-day', '6'])).toMatchObject({ code: 0 });
  expect((await projects.get('acme')).spend).toEqual({ perDay: 6, perDayTokens: 2_000 });
  expect(await ask(['projects', 'update', 'acme', '--no-limits', '--per-day', '7'])).toMatchObject({ code: 0 });
  expect((await ask(['projects', 'list'])).out).toMatch(/^acme +Acme +7 .*a day$/m);
  expect(await ask(['projects', 'update', 'acme', '--no-limits'])).toMatchObject({ code: 0 });
  expect((await ask(['projects', 'list'])).out).toMatch(/^acme +Acme$/m);
  expect(await ask(['projects', 'update', 'acme'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('--per-day'),
  });
  const limits = ['--project', 'acme', '--path', 'GET /api/projects', '--rate', '100/60', '--expires', '2099-01-31'];
  const key = (await ask(['keys', 'create', 'theirs', '--scope', 'admin', ...limits])).out.trim();
  const theirs = await ask(['projects', 'list', '--json'], { LASTCALL_SECRET_KEY: key });
  expect(JSON.parse(theirs.out)).toMatchObject([{ id: 'acme', name: 'Acme' }]);
  expect(await ask(['keys', 'list'], { LASTCALL_SECRET_KEY: key })).toMatchObject({
    code: 3,
    err: 'This key may not use GET /api/keys.\n',
  });
  expect(await ask(['projects', 'delete', 'acme'])).toMatchObject({ code: 1, err: expect.stringContaining('keys') });
  const inAcme = { LASTCALL_PROJECT: 'acme' };
  const [{ id, rate, expiresAt }] = JSON.parse((await ask(['keys', 'list', '--json'], inAcme)).out);
  expect([rate, expiresAt]).toEqual([{ requests: 100, seconds: 60 }, Date.parse('2099-01-31')]);
  expect(await ask(['keys', 'revoke', id], inAcme)).toMatchObject({ code: 0, out: 'Revoked theirs.\n' });
  expect(await ask(['projects', 'delete', 'acme'])).toMatchObject({ code: 0, out: 'Deleted the project acme.\n' });
});

test('[S12] tools test calls the tool once, prints how the call ended, and exits with it', async () => {
  const tried = await ask(['tools', 'test', 'fetch_weather', '{"city":"Tokyo"}']);
  expect(tried).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^ok [\d.]+ m?s \{"city":"Tokyo","forecast":"\w+","celsius":\d+\}\n$/),
  });
  const failed = await ask(['tools', 'test', 'fetch_weather', '{}']);
  expect(failed).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^error invalid_input [\d.]+ m?s Invalid arguments/),
  });
  const waits = await askAsProcess(['tools', 'test', 'confirm_booking', '{"question":"Really?"}']);
  expect(waits).toMatchObject({
    code: 11,
    out: expect.stringMatching(
      /^waiting [\d.]+ m?s The call of an agent would wait here for an answer\. A test does not ask for one\.\n$/,
    ),
  });
  const json = await ask(['tools', 'test', 'fetch_weather', '{"city":"Tokyo"}', '--json']);
  expect(JSON.parse(json.out)).toMatchObject({ toolName: 'fetch_weather', outcome: { status: 'ok' } });
  expect((await ask(['tools', 'list'])).out).toMatch(/^book_hotel +file +Books a hotel room/m);
});

test('[S12] replay prints the events, the steps with their calls and outcomes, and why the run stopped', async () => {
  await space.say('What is the weather in Tokyo?');
  const [run] = await space.ended(1);
  const { code, out } = await askAsProcess(['replay', run.id]);
  expect(code).toBe(0);
  expect(out).toMatch(new RegExp(`^run ${run.id}  number 1  completed: send_message gave the response  `));
  expect(out).toMatch(/^ {2}came {6}Ada: What is the weather in Tokyo\?$/m);
  expect(out).toMatch(
    /^Step 1 {2}model {2}\d+ tokens\n {2}ok {8}fetch_weather \{"city":"Tokyo"\} {2}[\d.]+ m?s {2}\{"city":"Tokyo"/m,
  );
  expect((await ask(['replay'])).out).toBe(out);
  expect(JSON.parse((await ask(['replay', run.id, '--json'])).out)).toMatchObject({
    run: { id: run.id },
    entries: expect.any(Array),
  });
  expect(await ask(['replay', 'no-such-run'])).toMatchObject({ code: 1, err: expect.stringContaining('no-such-run') });
});

test('[S12] open prints an address that signs a person in with the rights of the key', async () => {
  expect(await ask(['open', 'openapi.json'])).toMatchObject({ code: 0, out: `${url}/openapi.json\n` });
  expect(await ask(['open'], { LASTCALL_SECRET_KEY: '' })).toMatchObject({ code: 0, out: `${url}/\n` });
  expect((await ask(['open', '/runs?status=failed'])).out).toMatch(
    /^http:\/\/\S+\/runs\?status=failed#in=[\w-]{43}\n$/,
  );
  const { url: link } = JSON.parse((await askAsProcess(['open', '--json'])).out);
  expect(await signIn(link)).toMatchObject({ scopes: ['admin'], entity: { displayName: 'Ada' } });
  const key = (await ask(['keys', 'create', 'writer', '--scope', 'write'])).out.trim();
  const written = await ask(['open'], { LASTCALL_SECRET_KEY: key });
  expect(await signIn(written.out.trim())).toMatchObject({ scopes: ['write'], entity: { displayName: 'Ada' } });
  expect(await ask(['open', '--as', 'nobody'])).toMatchObject({ code: 1, err: expect.stringContaining('entityId') });
  const weak = (await ask(['keys', 'create', 'reader', '--scope', 'read'])).out.trim();
  expect(await ask(['open'], { LASTCALL_SECRET_KEY: weak })).toMatchObject({ code: 3 });
});

test.each(['inbox', 'search', 'usage', 'settings', 'evaluations', 'card'])(
  '[S12] open prints the address of /%s, with or without a slash at its end, which is a page of the studio for browsers',
  async (page) => {
    for (const path of [`/${page}`, `/${page}/`]) {
      const { out } = await ask(['open', path], { LASTCALL_SECRET_KEY: '' });
      expect(out).toBe(`${url}${path}\n`);
      const answer = await fetch(out.trim(), { headers: { accept: 'text/html' } });
      // Without a build of the studio, the answer is a text that says how to get one. Paths of the API get JSON.
      expect(answer.headers.get('content-type')).toMatch(/^text\/(html|plain);/);
    }
  },
);

test('in a pipe the last line of the demo at its start is the sign-in address, which works once', async () => {
  const [, link = ''] = await gateway.prints(/^Open (\S+) \(signs in once, 15 minutes\)$/m);
  expect(link.startsWith(`${url}/#in=`)).toBe(true);
  expect(gateway.out.indexOf('Open ')).toBeGreaterThan(gateway.out.indexOf('Lastcall listens on'));
  expect(await signIn(link)).toMatchObject({ scopes: ['admin'], entity: { displayName: 'Ada' } });
  expect(await signIn(link)).toMatchObject({ error: { code: 'link_not_valid' } });
});

/** Signs in as the page does that the link opens. */
async function signIn(link: string): Promise<unknown> {
  const response = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url, 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ code: new URL(link).hash.slice('#in='.length) }),
  });
  return await response.json();
}

test('[S12] doctor reports no problem in a working folder with its gateway', async () => {
  const { code, out } = await askAsProcess(['doctor']);
  expect(out).toBe(
    `ok    node ${process.versions.node}\nwarn  no lastcall.config.ts here, so the demo runs: lastcall init\nok    store SQLite in .lastcall, in use by a gateway\nok    model rehearsal (no key found)\nok    gateway answers at ${url}\nok    no dead events in inboxes of agents\n`,
  );
  expect(code).toBe(0);
});

test('[O11] audit prints who changed what, and everything as JSON lines', async () => {
  await ask(['keys', 'create', 'audited', '--scope', 'read']);
  const { code, out } = await ask(['audit', '--action', 'post_keys']);
  expect(code).toBe(0);
  expect(out).toMatch(/^\S+Z +default +LASTCALL_SECRET_KEY +post_keys +key \S+ +127\.0\.0\.1$/m);
  const lines = (await askAsProcess(['audit', '--from', '2020-01-01', '--jsonl'])).out.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).action)).toContain('post_keys');
  expect(JSON.parse((await ask(['audit', '--to', '2020-01-01', '--json'])).out)).toEqual([]);
  expect(await ask(['audit', '--from', 'soon'])).toMatchObject({ code: 2 });
});

test('[O5] export prints the data of a person as JSON lines', async () => {
  const headers = { authorization: `Bearer ${KEY}` };
  const people = await (await fetch(`${url}/api/entities?kind=human`, { headers })).json();
  const [{ id }] = (people as { items: { id: string }[] }).items as [{ id: string }];
  const { code, out } = await askAsProcess(['export', id]);
  expect(code).toBe(0);
  expect(JSON.parse(out.split('\n', 1)[0] ?? '')).toMatchObject({ type: 'entity', id });
  expect(await askAsProcess(['export', 'nothing'])).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('nothing'),
  });
  expect(await ask(['export', id], { LASTCALL_SECRET_KEY: '' })).toMatchObject({ code: 3 });
});

test('[O5] an export names its project, says if a proxy refuses it or if it breaks off, and then exits with 1', async () => {
  const projects: unknown[] = [];
  const proxy = createServer((request, response) => {
    response.setHeader('x-request-id', '01997d7c-0000-7000-8000-000000000000');
    projects.push(request.headers['lastcall-project']);
    if (request.url?.endsWith('refused')) return response.writeHead(502).end('<h1>Bad gateway</h1>');
    return response.write('{"entity":1}\n', () => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const inAcme = { ...env, LASTCALL_PROJECT: 'acme' };
  const exported = (person: string) =>
    lastcall(['export', person, '--url', address], { folder: folder.path, env: inAcme });
  expect(await exported('refused')).toMatchObject({
    ...{ code: 1, out: '', err: `${address} answered 502, without saying why.\n` },
  });
  expect(await exported('broken')).toMatchObject({
    ...{ code: 1, out: '{"entity":1}\n' },
    err: 'The connection to the gateway was lost, so what was printed is not complete.\n',
  });
  expect(projects).toEqual(['acme', 'acme']);
  proxy.close();
});

test('[O3] erase asks before it deletes, and shows the progress until the texts are gone', async () => {
  const client = createClient({ url, auth: { key: KEY } });
  const { id } = await client.entities.create({ kind: 'human', displayName: 'Petronella Quackenbush' });
  const exported: string[] = [];
  for await (const line of client.entities.export(id)) exported.push(line.type);
  expect(exported).toEqual(['entity']);
  expect(await askAsProcess(['erase', 'person', id])).toMatchObject({ code: 2, err: expect.stringContaining('--yes') });
  expect((await client.entities.get(id)).displayName).toBe('Petronella Quackenbush');
  expect(await askAsProcess(['erase', 'person', id, '--yes'])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Erased\. Texts were replaced in \d+ rows\.\n$/),
  });
  expect((await client.entities.get(id)).displayName).toBe('[erased]');
  expect((await client.erasures.list()).items).toMatchObject([{ subjectId: id, status: 'done' }]);
  expect(await ask(['erase', 'person', id, '--yes'])).toMatchObject({ code: 1, err: expect.stringContaining(id) });
  expect(await ask(['erase', 'everything', id, '--yes'])).toMatchObject({ code: 2 });
});

test('[K13] usage prints the usage of models, and refuses what it cannot add up', async () => {
  expect(await ask(['usage', '--from', '2020-01-01', '--to', '2020-01-02'])).toMatchObject({
    code: 0,
    out: 'No model was asked from 2020-01-01 to 2020-01-02 (UTC).\n',
  });
  await fetch(`${url}/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ agent: 'Concierge', message: 'Hello.' }),
  });
  const { code, out } = await askAsProcess(['usage', '--by', 'agent,model,kind']);
  expect(code).toBe(0);
  expect(out).toMatch(/Concierge +rehearsal +turn +\d+ requests? +[\d,]+ in +0 cached +[\d,]+ out +0 USD/);
  const { items } = JSON.parse((await ask(['usage', '--by', 'kind', '--json'])).out);
  expect(items).toMatchObject([{ kind: 'turn', cost: 0, estimated: false }]);
  const [agent] = (await space.ask('/api/agents')).items.filter((one: { name: string }) => one.name === 'Concierge');
  const byName = await ask(['usage', '--by', 'agent', '--agent', 'Concierge']);
  expect(byName.out).toMatch(/Concierge +\d+ requests?/);
  expect((await ask(['usage', '--by', 'agent', '--agent', agent.id])).out).toBe(byName.out);
  expect(await ask(['usage', '--agent', 'Nobody'])).toMatchObject({ code: 1, err: 'There is no agent "Nobody".\n' });
  for (let twin = 0; twin < 2; twin++) await space.ask('/api/agents', { name: 'Twin', instructions: 'Help.' });
  expect(await ask(['usage', '--agent', 'Twin'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('use the id'),
  });
  expect(await ask(['usage', '--by', 'colour'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('It must list some of agent'),
  });
});

test('[O9] grants are listed with their conditions, and revoked', async () => {
  expect(await ask(['grants', 'list'])).toMatchObject({ code: 0, out: 'There are no grants.\n' });
  const { items: spaces } = await space.ask('/api/spaces');
  const { id: accounts } = spaces.find(({ name }: { name: string }) => name === 'Accounts');
  const { items: people } = await space.ask('/api/entities?kind=human');
  const ada = people.find(({ displayName }: { displayName: string }) => displayName === 'Ada');
  await space.ask(`/api/spaces/${accounts}/messages`, { entityId: ada.id, text: 'Pay invoice 4711, amount 120.' });
  const waiting = async () => (await space.ask('/api/pending')).items.filter((one: Waiting) => one.kind === 'approval');
  await expect.poll(async () => (await waiting()).length, { timeout: 30_000 }).toBe(1);
  const [call] = await waiting();
  const { grantId } = await space.ask(`/api/runs/${call.runId}/tool-results`, {
    callId: call.callId,
    approve: true,
    grant: { for: 'always', conditions: [{ field: '/amount', atMost: 200 }] },
  });
  const { out } = await askAsProcess(['grants', 'list', '--tool', call.toolName]);
  expect(out).toMatch(
    new RegExp(`^${grantId} +${call.toolName} +\\S+ +always +/amount \\{"atMost":200\\} +0 uses$`, 'm'),
  );
  const caller = (await space.ask('/api/agents')).items.find(({ id }: { id: string }) => id === call.agentId);
  expect((await ask(['grants', 'list', '--agent', caller.name])).out).toBe(out);
  expect(await ask(['grants', 'list', '--agent', 'Nobody'])).toMatchObject({ code: 1 });
  expect(await ask(['grants', 'revoke', grantId])).toMatchObject({ code: 0, out: `Revoked the grant ${grantId}.\n` });
  expect((await ask(['grants', 'list'])).out).toBe('There are no grants.\n');
  expect((await ask(['grants', 'list', '--all'])).out).toContain('ended: revoked');
  expect(await ask(['grants', 'revoke', 'nothing'])).toMatchObject({ code: 1, err: expect.stringContaining('grant') });
});

interface Waiting {
  readonly kind: string;
}

test('[E1] fork continues a run from a step, prints the response alone, and the original stays as it is', async () => {
  const ran = await ask(['run', 'Analyst', 'What can you do?', '--json']);
  const { run_id: runId } = JSON.parse(ran.out);
  const before = (await ask(['replay', runId])).out;
  const forked = await askAsProcess(['fork', runId, '--at', '1', '--with-message', 'Be brief.', '--json']);
  expect(forked.err).toContain('Forked at step 1, as run ');
  const { runId: forkId, run } = JSON.parse(forked.out);
  expect(run).toMatchObject({ id: forkId, fork: { runId, atStep: 1, changes: { message: 'Be brief.' } } });
  expect((await ask(['replay', runId])).out).toBe(before);
  const failed = await ask(['fork', runId, '--at', '1', '--model', 'foo']);
  expect(failed).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^Stopped: .+[^.]\. See: lastcall replay \S+$/m),
  });
  expect(await ask(['fork', runId, '--at', '99'])).toMatchObject({ code: 1, err: expect.stringContaining('atStep') });
  expect(await ask(['fork', runId, '--at', 'x'])).toMatchObject({ code: 2 });
  const ofNode = ['fork', runId, '--at', '1', '--node', 'triage'];
  expect(await ask(ofNode)).toMatchObject({ code: 2, err: expect.stringContaining('needs --instructions') });
  const told = await ask([...ofNode, '--instructions', 'Be kind.']);
  expect(told).toMatchObject({ code: 1, err: expect.stringContaining('the agent is no machine') });
});

test('[S12] a command whose reader closes the pipe ends without an error', async () => {
  const piped = (command: string): Promise<Ended> =>
    new Program(['bash', '-c', `set -o pipefail; ${command}`], { folder: folder.path, env: { ...env, BIN, URL: url } })
      .ended;
  // `true` reads nothing, so each of them writes into a closed pipe.
  for (const command of ['--help', 'tools list --json --url "$URL"', 'replay --url "$URL" --help'])
    expect(await piped(`node "$BIN" ${command} | true`)).toMatchObject({ code: 0, out: '', err: '' });
});
