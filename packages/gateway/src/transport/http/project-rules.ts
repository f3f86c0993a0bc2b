import { ApiError, notFound } from '../../domain/api-error.ts';
import { isVisible, type Named } from '../../domain/projects/is-visible.ts';
import { getProject } from '../../domain/projects/project.ts';
import { isLimited, isNarrow } from '../../domain/projects/view.ts';
import type { Tx } from '../../ports/store/store.ts';
import { type Caller, limitedTo, viewOf } from '../caller.ts';
import type { Endpoint } from './endpoint.ts';

/**
 * How an operation keeps projects apart for callers that see only a part of the gateway.
 *
 * - `{ params, query, body }`: the ids that it takes are checked before the operation begins. What is not in the caller's view is "not
 *   found", in the same words as what does not exist.
 * - `filtered`: the operation itself reads only what is in the view, because it lists something or takes names.
 * - `whole`: the same, and keys for certain agents or spaces may not use it.
 * - `shared`: it shows nothing that belongs to a project.
 * - `gateway`: only for callers that see all projects.
 *
 * An operation without a rule is refused to all callers with a limited view, so that a new path cannot show what it should not. The
 * matrix in `test/projects` calls every path of the OpenAPI document with keys of another project.
 */
type ProjectRule = 'filtered' | 'whole' | 'shared' | 'gateway' | CheckedIds;

interface CheckedIds {
  /** True if keys for certain agents or spaces may not use it. */
  readonly isWhole?: true;
  readonly params?: Readonly<Record<string, Named>>;
  readonly query?: Readonly<Record<string, Named>>;
  readonly body?: Readonly<Record<string, Named>>;
}

const AGENT: CheckedIds = { params: { id: 'agent' } };
const SPACE: CheckedIds = { params: { id: 'space' } };
const RUN: CheckedIds = { params: { id: 'run' } };
const ENTITY: CheckedIds = { params: { id: 'entity' } };
const ARTIFACT: CheckedIds = { params: { id: 'artifact' } };
// They have texts of all agents of the project.
const EVALUATION: CheckedIds = { params: { id: 'evaluation' }, isWhole: true };
const JOB: CheckedIds = { params: { callId: 'job' } };

export const PROJECT_RULES: Readonly<Record<string, ProjectRule>> = {
  'GET /api/projects': 'filtered',
  'POST /api/projects': 'gateway',
  'GET /api/projects/{id}': 'filtered',
  'PATCH /api/projects/{id}': 'gateway',
  'DELETE /api/projects/{id}': 'gateway',

  'GET /api/entities': 'filtered',
  'POST /api/entities': 'whole',
  'GET /api/entities/{id}': ENTITY,
  'DELETE /api/entities/{id}': { ...ENTITY, isWhole: true },
  // A token sees all spaces of its entity.
  'POST /api/entities/{id}/token': { ...ENTITY, isWhole: true },

  'GET /api/spaces': 'filtered',
  'POST /api/spaces': 'whole',
  'GET /api/spaces/{id}': SPACE,
  'PATCH /api/spaces/{id}': SPACE,
  'DELETE /api/spaces/{id}': SPACE,
  'GET /api/spaces/{id}/members': SPACE,
  // An agent that joins a space can be talked to.
  'POST /api/spaces/{id}/members': { ...SPACE, isWhole: true },
  'DELETE /api/spaces/{id}/members': SPACE,
  'GET /api/spaces/{id}/messages': SPACE,
  // Checked with the row that every post locks.
  'POST /api/spaces/{id}/messages': 'filtered',
  'POST /api/spaces/{id}/seen': SPACE,
  'GET /api/spaces/{id}/stream': SPACE,

  'GET /api/agents': 'filtered',
  'POST /api/agents': 'whole',
  'GET /api/agents/{id}': AGENT,
  'PATCH /api/agents/{id}': AGENT,
  'DELETE /api/agents/{id}': AGENT,
  'GET /api/agents/{id}/versions': AGENT,
  'POST /api/agents/{id}/drafts': { ...AGENT, body: { after: 'run', again: 'run' } },
  'POST /api/agents/{id}/pause': AGENT,
  'POST /api/agents/{id}/resume': AGENT,
  'POST /api/agents/{id}/events': AGENT,
  'GET /api/agents/{id}/inbox': AGENT,
  'POST /api/agents/{id}/inbox/redrive': AGENT,
  'GET /api/agents/{id}/consciousness': AGENT,
  'GET /api/agents/{id}/transcript': AGENT,
  'GET /api/agents/{id}/goals': AGENT,
  'GET /api/agents/{id}/memories': AGENT,
  'GET /api/agents/{id}/plans': AGENT,
  'POST /api/agents/{id}/plans': AGENT,
  'PATCH /api/agents/{id}/plans': AGENT,
  'DELETE /api/agents/{id}/plans': AGENT,
  'PATCH /api/agents/{id}/plans/{key}': AGENT,
  'DELETE /api/agents/{id}/plans/{key}': AGENT,
  'GET /api/agents/{id}/tasks': AGENT,
  'GET /api/agents/{id}/session': AGENT,
  'GET /api/agents/{id}/machine': AGENT,
  'POST /api/agents/{id}/machine/commands/{name}': AGENT,
  'GET /api/agents/{id}/files': AGENT,
  'GET /api/agents/{id}/files/{path}': AGENT,
  'PUT /api/agents/{id}/files/{path}': AGENT,
  'DELETE /api/agents/{id}/files/{path}': AGENT,
  // They take an agent's name too.
  'POST /api/agents/{id}/chat': 'filtered',
  'GET /api/agents/{id}/chat/{chatId}/stream': 'filtered',
  'GET /api/agents/{id}/chat/{chatId}/messages': 'filtered',

  'GET /api/mcp/servers': 'whole',
  'GET /api/mcp/tools': 'whole',
  'POST /api/mcp/tools/{id}/approve': { params: { id: 'MCP tool' }, isWhole: true },
  'GET /oauth/callback': 'shared',

  'GET /api/tools': 'filtered',
  'POST /api/tools': 'whole',
  'GET /api/tools/{id}': 'filtered',
  'PATCH /api/tools/{id}': 'whole',
  'DELETE /api/tools/{id}': 'whole',
  'POST /api/tools/{id}/test': 'whole',

  'GET /api/runs': 'filtered',
  'GET /api/search': 'filtered',
  'GET /api/usage': 'filtered',
  'GET /api/home': 'filtered',
  'GET /api/audit': 'whole',
  'GET /api/erasures': 'whole',
  'GET /api/erasures/{id}': 'whole',
  'GET /api/export': { query: { entityId: 'entity' }, isWhole: true },
  'GET /api/runs/{id}': RUN,
  'GET /api/runs/{id}/story': RUN,
  'GET /api/runs/{id}/transcript': RUN,
  'GET /api/runs/{id}/steps/{step}/request': RUN,
  'GET /api/runs/{id}/calls/{callId}': RUN,
  'GET /api/runs/{id}/stream': RUN,
  'POST /api/runs/{id}/cancel': RUN,
  'GET /api/runs/{id}/forks': RUN,
  'POST /api/runs/{id}/forks': RUN,
  'GET /api/evaluations': 'whole',
  'POST /api/evaluations': 'whole',
  'GET /api/evaluations/{id}': EVALUATION,
  'DELETE /api/evaluations/{id}': EVALUATION,
  'GET /api/evaluations/{id}/results': EVALUATION,
  'GET /api/evaluations/{id}/cases': EVALUATION,
  'POST /api/evaluations/{id}/cases': { ...EVALUATION, body: { runId: 'run' } },
  'DELETE /api/evaluations/{id}/cases/{caseId}': EVALUATION,
  'POST /api/evaluations/{id}/reports': EVALUATION,
  'DELETE /api/evaluations/{id}/reports/{reportId}': EVALUATION,
  'GET /api/calls/{id}': { params: { id: 'call' } },
  'GET /api/pending': 'filtered',
  'GET /api/grants': 'filtered',
  'GET /api/grants/{id}': 'filtered',
  'DELETE /api/grants': 'filtered',
  'DELETE /api/grants/{id}': 'filtered',
  'POST /api/runs/{runId}/tool-results': { body: { callId: 'waiting call' } },
  'POST /api/jobs/{callId}/claim': JOB,
  'POST /api/jobs/{callId}/heartbeat': JOB,
  'GET /api/jobs/stream': { query: { agentId: 'agent' } },
  'POST /api/artifacts': { query: { entityId: 'entity' } },
  'GET /api/artifacts/{id}': ARTIFACT,
  'GET /api/artifacts/{id}/address': ARTIFACT,
  // The signature of the address is the right to read it.
  'GET /api/artifacts/{id}/content': 'shared',

  'GET /api/keys': 'whole',
  'POST /api/keys': 'whole',
  'DELETE /api/keys/{id}': { params: { id: 'key' } },
  'GET /api/links': 'whole',
  'POST /api/links': 'whole',
  'DELETE /api/links/{id}': 'whole',
  'POST /api/session': 'filtered',
  'GET /api/session': 'filtered',
  'PATCH /api/session': 'filtered',
  'DELETE /api/session': 'filtered',
  'GET /api/sessions': 'whole',
  'DELETE /api/sessions/{id}': 'whole',

  'GET /api/notifications': 'whole',
  'GET /api/notifications/targets': 'whole',
  'POST /api/notifications/targets/{name}/test': 'whole',
  'POST /api/notifications/{id}/retry': 'whole',
  'POST /api/card-links': 'shared',

  'GET /v1/models': 'filtered',
  'GET /v1/models/{model}': 'filtered',
  'POST /v1/chat/completions': 'filtered',
  'POST /v1/responses': 'filtered',
  'GET /v1/responses/{id}': 'filtered',
  'POST /v1/responses/{id}/cancel': 'filtered',
  'POST /mcp': 'filtered',
  'GET /mcp': 'filtered',
  'DELETE /mcp': 'filtered',
  'POST /chat': 'filtered',
  'POST /chat/invoke': 'filtered',
  'POST /chat/add-ai-message': 'filtered',
  'POST /contexts': 'filtered',
  'GET /contexts/{id}': 'filtered',
  'DELETE /contexts/{id}': 'filtered',

  // The signature decides, and not a key. The answer tells nothing about the agent.
  'POST /hooks/{name}': 'shared',

  'GET /api/status': 'filtered',
  'GET /api/models': 'shared',
  'GET /health': 'shared',
  'GET /ready': 'shared',
  'GET /metrics': 'shared',
  'GET /openapi.json': 'shared',
  'POST /api/demo/crash': 'gateway',
};

/** Names one project, for callers that see all of them. */
export const PROJECT_HEADER = 'lastcall-project';

/** The caller as it acts in one project, if the request names one. Another project than its own does not exist for a caller. */
export async function inProject(tx: Tx, caller: Caller, project: string | null): Promise<Caller> {
  if (project === null || !('view' in caller) || limitedTo(caller) !== undefined) return caller;
  const { id } = await getProject(tx.db, project, caller.view);
  const chose = caller.view.project === undefined ? ({ choseProject: true } as const) : {};
  return { ...caller, ...chose, view: { ...caller.view, project: id } };
}

interface Asked {
  readonly caller: Caller;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** Throws 404 for everything that the caller cannot see. Entities see what they take part in: see `viewOf`. */
export async function assertVisible(tx: Tx, { method, path }: Endpoint, asked: Asked): Promise<void> {
  assertOwnCard({ method, path }, asked);
  const view = viewOf(asked.caller);
  if (!isLimited(view) || limitedTo(asked.caller) !== undefined) return;
  const rule = PROJECT_RULES[`${method.toUpperCase()} ${path}`] ?? 'gateway';
  if (rule === 'gateway') throw refused('This needs a key of all projects.');
  const isWhole = typeof rule === 'string' ? rule === 'whole' : rule.isWhole;
  if (isWhole === true && isNarrow(view)) throw refused('This key is limited to certain agents or spaces.');
  if (typeof rule === 'string') return;
  for (const [kind, id] of idsOf(rule, asked))
    if (!(await isVisible(tx.db, { kind, id }, view))) throw notFound(kind, id);
}

/** For a token of one card, no other call exists. */
function assertOwnCard({ method, path }: Pick<Endpoint, 'method' | 'path'>, asked: Asked): void {
  const { caller } = asked;
  if (caller.kind !== 'entity' || caller.callId === undefined) return;
  const rule = PROJECT_RULES[`${method.toUpperCase()} ${path}`];
  const ids = typeof rule === 'object' ? idsOf(rule, asked) : [];
  const other = ids.find(([, id]) => id !== caller.callId);
  if (other !== undefined) throw notFound(...other);
}

function idsOf(rule: CheckedIds, asked: Asked): readonly (readonly [Named, string])[] {
  const parts = ['params', 'query', 'body'] as const;
  return parts.flatMap((part) =>
    Object.entries(rule[part] ?? {}).flatMap(([name, kind]) => {
      const id = (asked[part] as Readonly<Record<string, unknown>> | undefined)?.[name];
      return typeof id === 'string' ? [[kind, id] as const] : [];
    }),
  );
}

function refused(message: string): ApiError {
  return new ApiError('forbidden', message);
}
