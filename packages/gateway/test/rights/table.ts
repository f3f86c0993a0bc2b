import { createHmac } from 'node:crypto';
import { fixedTool } from '../chat/chat-api.ts';
import { type CallerName, HOOK_SECRET, type Stage } from './stage.ts';

/** The status that each caller gets. `ok` is any success. */
export type Expected = 'ok' | number;

type Rights = Readonly<Record<CallerName, Expected>>;

interface Request {
  readonly path?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Row {
  readonly rights: Rights;
  /** A valid request except for its caller: created for each caller. */
  readonly request: (stage: Stage, caller: CallerName) => Request | Promise<Request>;
}

const rights = (
  ...[anonymous, member, stranger, read, write, admin]: [Expected, Expected, Expected, Expected, Expected, Expected]
): Rights => ({
  ...{ anonymous, member, stranger, read, write, admin },
  // A signed-in caller has the rights of the token or the key, and a revoked key has none.
  ...{ person: member, operator: admin, revoked: anonymous },
});

//                        anonymous member stranger read  write admin
const ANYONE = rights(/*        */ 'ok', 'ok', 'ok', 'ok', 'ok', 'ok');
/** Every known caller, who sees what they may: a stranger sees nothing. */
const LIST = rights(/*          */ 401, 'ok', 'ok', 'ok', 'ok', 'ok');
/** For strangers it does not exist. */
const SHARED_READ = rights(/*   */ 401, 'ok', 404, 'ok', 'ok', 'ok');
const SHARED_WRITE = rights(/*  */ 401, 'ok', 404, 403, 'ok', 'ok');
const READ = rights(/*          */ 401, 403, 403, 'ok', 'ok', 'ok');
const WRITE = rights(/*         */ 401, 403, 403, 403, 'ok', 'ok');
const ADMIN = rights(/*         */ 401, 403, 403, 403, 403, 'ok');
/** Of a browser's session: neither a key nor a token is one. */
const SESSION: Rights = { ...rights(401, 401, 401, 401, 401, 401), person: 'ok', operator: 'ok' };
/** For programs: no session of a browser suffices. */
const MCP_WRITE: Rights = { ...WRITE, operator: 403 };

const at =
  (path: string): Row['request'] =>
  () => ({ path });
const plain: Row['request'] = () => ({});
const OWN_PAGE = (url: string) => ({ origin: url, 'sec-fetch-site': 'same-origin' });
const MCP = { accept: 'application/json, text/event-stream' };
const spoken = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hello.' }] };

const ofAgent =
  (rest = ''): Row['request'] =>
  ({ agent }) => ({ path: `/api/agents/${agent}${rest}` });
const ofSpace =
  (rest = ''): Row['request'] =>
  ({ space }) => ({ path: `/api/spaces/${space}${rest}` });
const chat =
  (path: string, more: object): Row['request'] =>
  ({ agent }) => ({ path, body: { agent, ...more } });
/** A reply to what the member said. */
const invoke =
  (path: string): Row['request'] =>
  async ({ api, agent, secrets }) => {
    const sent = { body: { agent, message: 'Hello.' }, secret: secrets.member ?? null };
    return { path, body: { context_id: (await api.call('POST', '/chat', sent)).body.context_id } };
  };
const ofFile: Row['request'] = async ({ api, filer }) => {
  const path = `/api/agents/${filer}/files/a/b.txt`;
  await api.call('PUT', path, { body: { content: 'text' } });
  return { path };
};
const ofEvaluation =
  (rest = ''): Row['request'] =>
  async (stage) => ({
    path: `/api/evaluations/${await stage.create('/api/evaluations', { name: stage.name() })}${rest}`,
  });
const REPORT = { version: 'v1', samples: [{ case: 'one', sample: 1, scores: { answer: { value: 1 } }, ms: 1 }] };
const newContext: Row['request'] = ({ agent }) => ({ body: { agent } });
const context =
  (prefix: string): Row['request'] =>
  async (stage) => ({
    path: `${prefix}/${await stage.create('/contexts', { agent: stage.agent, entity_id: stage.member })}`,
  });

export const TABLE: Readonly<Record<string, Row>> = {
  'GET /api/projects': { rights: READ, request: plain },
  'POST /api/projects': { rights: ADMIN, request: ({ name }) => ({ body: { id: name() } }) },
  'GET /api/projects/{id}': { rights: READ, request: at('/api/projects/default') },
  'PATCH /api/projects/{id}': {
    rights: ADMIN,
    request: () => ({ path: '/api/projects/default', body: { name: 'default' } }),
  },
  'DELETE /api/projects/{id}': {
    rights: ADMIN,
    request: async (stage) => ({ path: `/api/projects/${await stage.create('/api/projects', { id: stage.name() })}` }),
  },

  'GET /api/entities': { rights: READ, request: plain },
  'POST /api/entities': { rights: WRITE, request: () => ({ body: { kind: 'human', displayName: 'Ben' } }) },
  'GET /api/entities/{id}': { rights: READ, request: ({ member }) => ({ path: `/api/entities/${member}` }) },
  'DELETE /api/entities/{id}': {
    rights: ADMIN,
    request: async ({ api }) => ({ path: `/api/entities/${await api.person('Ben')}` }),
  },
  'POST /api/entities/{id}/token': {
    rights: WRITE,
    request: ({ member }) => ({ path: `/api/entities/${member}/token` }),
  },

  'GET /api/spaces': { rights: LIST, request: plain },
  'POST /api/spaces': { rights: WRITE, request: () => ({ body: { name: 'Attic' } }) },
  'GET /api/spaces/{id}': { rights: SHARED_READ, request: ofSpace() },
  'PATCH /api/spaces/{id}': {
    rights: WRITE,
    request: async ({ api }) => ({ path: `/api/spaces/${await api.space()}`, body: { name: 'Loft', archived: true } }),
  },
  'DELETE /api/spaces/{id}': {
    rights: ADMIN,
    request: async ({ api }) => ({ path: `/api/spaces/${await api.space()}` }),
  },
  'GET /api/spaces/{id}/members': { rights: SHARED_READ, request: ofSpace('/members') },
  'POST /api/spaces/{id}/members': {
    rights: WRITE,
    request: async ({ api, space }) => ({
      path: `/api/spaces/${space}/members`,
      body: { entityId: await api.person('Ben') },
    }),
  },
  'DELETE /api/spaces/{id}/members': {
    rights: WRITE,
    request: async ({ api }) => {
      const ben = await api.person('Ben');
      return { path: `/api/spaces/${await api.space(ben)}/members?entityId=${ben}` };
    },
  },
  'GET /api/spaces/{id}/messages': { rights: SHARED_READ, request: ofSpace('/messages') },
  'POST /api/spaces/{id}/messages': {
    rights: SHARED_WRITE,
    request: (stage, caller) => ({
      path: `/api/spaces/${stage.space}/messages`,
      body: { text: 'Hello.', ...stage.onBehalf(caller) },
    }),
  },
  'POST /api/spaces/{id}/seen': {
    rights: SHARED_WRITE,
    request: (stage, caller) => ({
      path: `/api/spaces/${stage.space}/seen`,
      body: { seq: 0, ...stage.onBehalf(caller) },
    }),
  },
  'GET /api/spaces/{id}/stream': { rights: SHARED_READ, request: ofSpace('/stream') },

  'GET /api/agents': { rights: READ, request: plain },
  'POST /api/agents': { rights: WRITE, request: (stage) => ({ body: { name: stage.name(), instructions: 'Help.' } }) },
  'GET /api/agents/{id}': { rights: READ, request: ofAgent() },
  'PATCH /api/agents/{id}': {
    rights: WRITE,
    request: ({ agent }) => ({ path: `/api/agents/${agent}`, body: { instructions: 'Help.' } }),
  },
  'DELETE /api/agents/{id}': {
    rights: WRITE,
    request: async (stage) => ({ path: `/api/agents/${await stage.api.agent(stage.name())}` }),
  },
  'GET /api/agents/{id}/versions': { rights: READ, request: ofAgent('/versions') },
  'POST /api/agents/{id}/pause': {
    rights: WRITE,
    request: async (stage) => ({ path: `/api/agents/${await stage.api.agent(stage.name())}/pause` }),
  },
  'POST /api/agents/{id}/resume': {
    rights: WRITE,
    request: async (stage) => ({ path: `/api/agents/${await stage.api.agent(stage.name())}/resume` }),
  },
  'POST /api/agents/{id}/events': {
    rights: WRITE,
    request: ({ agent }) => ({ path: `/api/agents/${agent}/events`, body: { source: 's', name: 'n' } }),
  },
  'GET /api/agents/{id}/inbox': { rights: READ, request: ofAgent('/inbox') },
  'POST /api/agents/{id}/inbox/redrive': { rights: WRITE, request: ofAgent('/inbox/redrive') },
  'GET /api/agents/{id}/consciousness': { rights: READ, request: ofAgent('/consciousness') },
  'GET /api/agents/{id}/transcript': { rights: READ, request: ofAgent('/transcript') },
  'GET /api/agents/{id}/goals': { rights: READ, request: ofAgent('/goals') },
  'GET /api/agents/{id}/memories': { rights: READ, request: ofAgent('/memories') },
  'GET /api/agents/{id}/plans': { rights: READ, request: ofAgent('/plans') },
  'POST /api/agents/{id}/plans': {
    rights: WRITE,
    request: ({ agent, name }) => ({ path: `/api/agents/${agent}/plans`, body: yearEnd(name()) }),
  },
  'PATCH /api/agents/{id}/plans': {
    rights: WRITE,
    request: async (stage) => {
      const { path, key } = await newPlan(stage);
      return { path, body: { key, name: 'Another name' } };
    },
  },
  'DELETE /api/agents/{id}/plans': {
    rights: WRITE,
    request: async (stage) => {
      const { path, key } = await newPlan(stage);
      return { path: `${path}?key=${key}` };
    },
  },
  'PATCH /api/agents/{id}/plans/{key}': {
    rights: WRITE,
    request: async (stage) => ({ path: await planPath(stage), body: { name: 'Another name' } }),
  },
  'DELETE /api/agents/{id}/plans/{key}': {
    rights: WRITE,
    request: async (stage) => ({ path: await planPath(stage) }),
  },
  'GET /api/agents/{id}/session': { rights: ADMIN, request: ofAgent('/session') },
  'GET /api/agents/{id}/machine': {
    rights: READ,
    request: ({ machine }) => ({ path: `/api/agents/${machine}/machine` }),
  },
  'POST /api/agents/{id}/machine/commands/{name}': {
    rights: WRITE,
    request: ({ machine }) => ({ path: `/api/agents/${machine}/machine/commands/note`, body: {} }),
  },
  'GET /api/agents/{id}/files': { rights: READ, request: ofAgent('/files') },
  'GET /api/agents/{id}/files/{path}': { rights: READ, request: ofFile },
  'PUT /api/agents/{id}/files/{path}': {
    rights: WRITE,
    request: ({ filer }) => ({ path: `/api/agents/${filer}/files/a/b.txt`, body: { content: 'text' } }),
  },
  'DELETE /api/agents/{id}/files/{path}': { rights: WRITE, request: ofFile },

  'GET /api/mcp/servers': { rights: READ, request: plain },
  'GET /api/mcp/tools': { rights: READ, request: plain },
  // There is none, as callers who may approve one learn.
  'POST /api/mcp/tools/{id}/approve': {
    rights: { ...WRITE, write: 404, admin: 404, operator: 404 },
    request: () => ({ path: '/api/mcp/tools/none/approve', body: { fingerprint: 'f' } }),
  },
  'GET /oauth/callback': { rights: ANYONE, request: plain },

  'GET /api/tools': { rights: READ, request: plain },
  'POST /api/tools': { rights: ADMIN, request: (stage) => ({ body: fixedTool(stage.name(), 1) }) },
  'GET /api/tools/{id}': { rights: READ, request: at('/api/tools/look') },
  'PATCH /api/tools/{id}': {
    rights: ADMIN,
    request: async (stage) => ({ path: await newTool(stage), body: { description: 'Other.' } }),
  },
  'DELETE /api/tools/{id}': { rights: ADMIN, request: async (stage) => ({ path: await newTool(stage) }) },
  'POST /api/tools/{id}/test': {
    rights: ADMIN,
    request: async (stage) => ({ path: `${await newTool(stage)}/test`, body: { input: {} } }),
  },

  'GET /api/runs': { rights: READ, request: plain },
  'GET /api/usage': { rights: READ, request: plain },
  'GET /api/home': { rights: READ, request: plain },
  'GET /api/audit': { rights: ADMIN, request: plain },
  'GET /api/export': { rights: ADMIN, request: ({ member }) => ({ path: `/api/export?entityId=${member}` }) },
  'GET /api/erasures': { rights: ADMIN, request: plain },
  'GET /api/erasures/{id}': {
    rights: ADMIN,
    request: async ({ api }) => {
      const { id } = await api.done<{ id: string }>('DELETE', `/api/spaces/${await api.space()}`);
      return { path: `/api/erasures/${id}` };
    },
  },
  'GET /api/runs/{id}': {
    rights: READ,
    request: async (stage) => ({ path: `/api/runs/${(await stage.run()).runId}` }),
  },
  'GET /api/runs/{id}/story': {
    rights: READ,
    request: async (stage) => ({ path: `/api/runs/${(await stage.run()).runId}/story` }),
  },
  'GET /api/runs/{id}/transcript': {
    rights: READ,
    request: async (stage) => ({ path: `/api/runs/${(await stage.run()).runId}/transcript` }),
  },
  'GET /api/runs/{id}/steps/{step}/request': {
    rights: READ,
    request: async (stage) => ({ path: `/api/runs/${(await stage.run()).runId}/steps/1/request` }),
  },
  'GET /api/runs/{id}/calls/{callId}': {
    rights: READ,
    request: async (stage) => {
      const { runId, callId } = await stage.run();
      return { path: `/api/runs/${runId}/calls/${callId}` };
    },
  },
  'GET /api/runs/{id}/stream': {
    rights: READ,
    request: async (stage) => ({ path: `/api/runs/${(await stage.run()).runId}/stream` }),
  },
  'GET /api/runs/{id}/forks': {
    rights: READ,
    request: async (stage) => ({ path: `/api/runs/${(await stage.run()).runId}/forks` }),
  },
  'POST /api/runs/{id}/forks': {
    rights: WRITE,
    request: async (stage) => ({ path: `/api/runs/${(await stage.run()).runId}/forks`, body: { atStep: 1 } }),
  },
  'POST /api/agents/{id}/drafts': {
    rights: WRITE,
    request: ({ agent }) => ({ path: `/api/agents/${agent}/drafts`, body: { message: 'Hello.' } }),
  },
  'GET /api/agents/{id}/tasks': { rights: READ, request: ofAgent('/tasks') },
  'GET /api/evaluations': { rights: READ, request: plain },
  'POST /api/evaluations': { rights: WRITE, request: (stage) => ({ body: { name: stage.name() } }) },
  'GET /api/evaluations/{id}': { rights: READ, request: ofEvaluation() },
  'DELETE /api/evaluations/{id}': { rights: WRITE, request: ofEvaluation() },
  'GET /api/evaluations/{id}/results': { rights: READ, request: ofEvaluation('/results') },
  'GET /api/evaluations/{id}/cases': { rights: READ, request: ofEvaluation('/cases') },
  'POST /api/evaluations/{id}/cases': {
    rights: WRITE,
    request: async (stage, caller) => ({
      ...(await ofEvaluation('/cases')(stage, caller)),
      body: { runId: (await stage.run()).runId, expected: 'Yes.' },
    }),
  },
  'DELETE /api/evaluations/{id}/cases/{caseId}': {
    rights: WRITE,
    request: async (stage, caller) => {
      const { path = '' } = await ofEvaluation('/cases')(stage, caller);
      const id = await stage.create(path, { runId: (await stage.run()).runId, expected: 'Yes.' });
      return { path: `${path}/${id}` };
    },
  },
  'POST /api/evaluations/{id}/reports': {
    rights: WRITE,
    request: async (stage, caller) => ({ ...(await ofEvaluation('/reports')(stage, caller)), body: REPORT }),
  },
  'DELETE /api/evaluations/{id}/reports/{reportId}': {
    rights: WRITE,
    request: async (stage, caller) => {
      const { path = '' } = await ofEvaluation('/reports')(stage, caller);
      return { path: `${path}/${await stage.create(path, REPORT)}` };
    },
  },
  'GET /api/calls/{id}': {
    rights: SHARED_READ,
    request: async (stage) => ({ path: `/api/calls/${await stage.shownCall()}` }),
  },
  // It has ended, as callers who may cancel it learn.
  'POST /api/runs/{id}/cancel': {
    rights: { ...SHARED_WRITE, member: 409, write: 409, admin: 409, person: 409, operator: 409 },
    request: async (stage) => ({ path: `/api/runs/${(await stage.run()).runId}/cancel` }),
  },

  'GET /api/pending': { rights: LIST, request: plain },
  'GET /api/grants': { rights: LIST, request: plain },
  'GET /api/search': { rights: LIST, request: async () => ({ path: '/api/search?q=hello' }) },
  'GET /api/grants/{id}': {
    rights: SHARED_READ,
    request: async (stage) => ({ path: `/api/grants/${await stage.grant()}` }),
  },
  'DELETE /api/grants': {
    rights: SHARED_WRITE,
    request: async (stage) => ({ path: `/api/grants?id=${await stage.grant()}` }),
  },
  'DELETE /api/grants/{id}': {
    rights: SHARED_WRITE,
    request: async (stage) => ({ path: `/api/grants/${await stage.grant()}` }),
  },
  'POST /api/runs/{runId}/tool-results': {
    rights: SHARED_WRITE,
    request: async (stage) => {
      const { runId, callId } = await stage.waitingCall();
      return { path: `/api/runs/${runId}/tool-results`, body: { callId, result: 'Yes.' } };
    },
  },
  'POST /api/jobs/{callId}/claim': {
    rights: SHARED_WRITE,
    request: async (stage) => ({
      path: `/api/jobs/${(await stage.waitingCall()).callId}/claim`,
      body: STEADY_CLAIM,
    }),
  },
  'POST /api/jobs/{callId}/heartbeat': {
    rights: SHARED_WRITE,
    request: async (stage) => {
      const { callId } = await stage.waitingCall();
      const path = `/api/jobs/${callId}`;
      const claim = await stage.api.done<{ claimToken: string }>('POST', `${path}/claim`, STEADY_CLAIM);
      const { claimToken } = claim;
      return { path: `${path}/heartbeat`, body: { claimToken } };
    },
  },
  'GET /api/jobs/stream': { rights: READ, request: ({ agent }) => ({ path: `/api/jobs/stream?agentId=${agent}` }) },

  'GET /api/keys': { rights: ADMIN, request: plain },
  'POST /api/keys': { rights: ADMIN, request: () => ({ body: { name: 'k', scopes: ['admin'] } }) },
  'DELETE /api/keys/{id}': {
    rights: ADMIN,
    request: async (stage) => ({
      path: `/api/keys/${await stage.create('/api/keys', { name: 'k', scopes: ['read'] })}`,
    }),
  },

  'GET /api/notifications': { rights: ADMIN, request: plain },
  'GET /api/notifications/targets': { rights: ADMIN, request: plain },
  'POST /api/notifications/targets/{name}/test': {
    rights: ADMIN,
    request: at('/api/notifications/targets/ops/test'),
  },
  'POST /api/notifications/{id}/retry': {
    rights: ADMIN,
    request: async (stage) => ({ path: `/api/notifications/${await stage.failedNotification()}/retry` }),
  },
  // The code is the only right: see test/notify/card-links.test.ts. Wrong ones are counted by address.
  'POST /api/card-links': {
    rights: rights(401, 401, 401, 401, 401, 401),
    request: ({ name }) => ({
      body: { code: 'wrong' },
      headers: { 'x-forwarded-for': `198.51.100.${name().slice('name-'.length)}` },
    }),
  },

  'GET /api/links': { rights: ADMIN, request: plain },
  'POST /api/links': { rights: WRITE, request: () => ({ body: {} }) },
  'DELETE /api/links/{id}': {
    rights: ADMIN,
    request: async (stage) => ({ path: `/api/links/${await stage.create('/api/links', {})}` }),
  },
  'POST /api/session': {
    rights: { ...ANYONE, revoked: 401 },
    request: ({ url, secrets }) => ({ headers: OWN_PAGE(url), body: { key: secrets.read } }),
  },
  'GET /api/session': { rights: SESSION, request: plain },
  'PATCH /api/session': {
    rights: { ...SESSION, read: 403, person: 403 },
    request: () => ({ body: { entityId: null } }),
  },
  'DELETE /api/session': { rights: SESSION, request: plain },
  'GET /api/sessions': { rights: ADMIN, request: plain },
  'DELETE /api/sessions/{id}': {
    rights: ADMIN,
    request: async (stage) => ({ path: `/api/sessions/${await stage.signIn()}` }),
  },

  'POST /api/artifacts': {
    rights: rights(401, 'ok', 'ok', 403, 'ok', 'ok'),
    request: ({ onBehalf }, caller) => ({
      path: `/api/artifacts?${new URLSearchParams({ name: 'a.txt', ...onBehalf(caller) })}`,
      body: 'The bytes of a file.',
    }),
  },
  'GET /api/artifacts/{id}': {
    rights: SHARED_READ,
    request: async (stage) => ({ path: `/api/artifacts/${await stage.attached()}` }),
  },
  'GET /api/artifacts/{id}/address': {
    rights: SHARED_READ,
    request: async (stage) => ({ path: `/api/artifacts/${await stage.attached()}/address` }),
  },
  // Its right is the signature.
  'GET /api/artifacts/{id}/content': {
    rights: rights(403, 403, 403, 403, 403, 403),
    request: async (stage) => ({ path: `/api/artifacts/${await stage.attached()}/content?expires=9&signature=none` }),
  },

  'GET /v1/models': { rights: LIST, request: plain },
  'GET /v1/models/{model}': { rights: SHARED_READ, request: at('/v1/models/Bot') },
  'POST /v1/chat/completions': {
    rights: SHARED_WRITE,
    request: () => ({ body: { model: 'Bot', messages: [{ role: 'user', content: 'Hello.' }] } }),
  },
  'POST /v1/responses': { rights: SHARED_WRITE, request: () => ({ body: { model: 'Bot', input: 'Hello.' } }) },
  'GET /v1/responses/{id}': {
    rights: SHARED_READ,
    request: async (stage) => ({ path: await responseOf(stage) }),
  },
  'POST /v1/responses/{id}/cancel': {
    rights: SHARED_WRITE,
    request: async (stage) => ({ path: `${await responseOf(stage)}/cancel` }),
  },

  'POST /mcp': {
    rights: MCP_WRITE,
    request: () => ({
      headers: MCP,
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
      },
    }),
  },
  // Without a session, which callers who may have one are asked for.
  'GET /mcp': { rights: { ...MCP_WRITE, write: 400, admin: 400 }, request: () => ({ headers: MCP }) },
  'DELETE /mcp': { rights: { ...MCP_WRITE, write: 400, admin: 400 }, request: () => ({ headers: MCP }) },

  'POST /chat': { rights: SHARED_WRITE, request: chat('/chat', { message: 'Hello.' }) },
  'POST /chat/invoke': { rights: SHARED_WRITE, request: invoke('/chat/invoke') },
  'POST /chat/add-ai-message': {
    rights: SHARED_WRITE,
    request: chat('/chat/add-ai-message', { prompt: 'Greet them.' }),
  },
  'POST /contexts': { rights: SHARED_WRITE, request: newContext },
  'GET /contexts/{id}': { rights: SHARED_READ, request: context('/contexts') },
  'DELETE /contexts/{id}': { rights: WRITE, request: context('/contexts') },
  'POST /api/agents/{id}/chat': {
    rights: SHARED_WRITE,
    request: (stage) => ({
      path: `/api/agents/${stage.agent}/chat`,
      body: { id: stage.name(), messages: [spoken], trigger: 'submit-message' },
    }),
  },
  'GET /api/agents/{id}/chat/{chatId}/stream': { rights: SHARED_READ, request: ofAgent('/chat/none/stream') },
  'GET /api/agents/{id}/chat/{chatId}/messages': { rights: SHARED_READ, request: ofAgent('/chat/none/messages') },

  // Its signature is its right: keys and tokens count for nothing.
  'POST /hooks/{name}': {
    rights: ANYONE,
    request: ({ name }) => signedHook({ zen: name() }),
  },

  'GET /api/status': { rights: LIST, request: plain },
  'GET /api/models': { rights: READ, request: plain },
  'GET /health': { rights: ANYONE, request: plain },
  'GET /ready': { rights: ANYONE, request: plain },
  'GET /metrics': { rights: ANYONE, request: plain },
  'GET /openapi.json': { rights: ANYONE, request: plain },
  'POST /api/demo/crash': { rights: ADMIN, request: plain },
};

/** The same operations at other paths, which the document does not list. */
export const ALIASES: Readonly<Record<string, Row>> = {
  'POST /api/chat': { rights: SHARED_WRITE, request: chat('/api/chat', { message: 'Hello.' }) },
  'POST /api/chat/invoke': { rights: SHARED_WRITE, request: invoke('/api/chat/invoke') },
  'POST /api/chat/add-ai-message': {
    rights: SHARED_WRITE,
    request: chat('/api/chat/add-ai-message', { prompt: 'Greet them.' }),
  },
  'POST /api/contexts': { rights: SHARED_WRITE, request: newContext },
  'GET /api/contexts/{id}': { rights: SHARED_READ, request: context('/api/contexts') },
  'DELETE /api/contexts/{id}': { rights: WRITE, request: context('/api/contexts') },
};

/** The path of a response that the member of the space requested. */
async function responseOf({ api, secrets }: Stage): Promise<string> {
  const sent = { body: { model: 'Bot', input: 'Hello.' }, secret: secrets.member ?? '' };
  return `/v1/responses/${(await api.call('POST', '/v1/responses', sent)).body.id}`;
}

async function newTool({ api, name }: Stage): Promise<string> {
  return `/api/tools/${(await api.done<{ id: string }>('POST', '/api/tools', fixedTool(name(), 1))).id}`;
}

function signedHook(body: { readonly zen: string }): Request {
  const signature = createHmac('sha256', HOOK_SECRET).update(JSON.stringify(body)).digest('hex');
  const headers = {
    'x-hub-signature-256': `sha256=${signature}`,
    'x-github-event': 'push',
    'x-github-delivery': body.zen,
  };
  return { path: '/hooks/forge', headers, body };
}

function yearEnd(key: string): object {
  return { key, name: 'Year end', instruction: 'Close the books.', at: '2099-12-31T12:00:00Z' };
}

/** A claim that lapses during the other rows would change the call, and look like a change by their requests. */
const STEADY_CLAIM = { worker: 'w', leaseMs: 3_600_000 };

async function newPlan({ agent, name, create }: Stage): Promise<{ readonly path: string; readonly key: string }> {
  const [path, key] = [`/api/agents/${agent}/plans`, name()];
  await create(path, yearEnd(key));
  return { path, key };
}

/** The path of a new plan. */
async function planPath(stage: Stage): Promise<string> {
  const { path, key } = await newPlan(stage);
  return `${path}/${key}`;
}
