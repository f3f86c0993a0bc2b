import { type ClientOptions, connect, type RequestOptions } from './connection.ts';
import { type Agents, agents } from './resources/agents.ts';
import { type Artifacts, artifacts } from './resources/artifacts.ts';
import { type Audit, audit } from './resources/audit.ts';
import { type Chat, chat } from './resources/chat.ts';
import { type Conversations, conversations } from './resources/conversations.ts';
import { type Entities, entities } from './resources/entities.ts';
import { type Erasures, erasures } from './resources/erasures.ts';
import { type Evaluations, evaluations } from './resources/evaluations.ts';
import { type Grants, grants } from './resources/grants.ts';
import { type HomeResource, home } from './resources/home.ts';
import { type Jobs, jobs } from './resources/jobs.ts';
import { type Keys, keys } from './resources/keys.ts';
import { type Links, links } from './resources/links.ts';
import { type Mcp, mcp } from './resources/mcp.ts';
import { type Models, models } from './resources/models.ts';
import { type Notifications, notifications } from './resources/notifications.ts';
import { type Pending, pending } from './resources/pending.ts';
import { type Projects, projects } from './resources/projects.ts';
import { type Runs, runs } from './resources/runs.ts';
import { type SearchTexts, search } from './resources/search.ts';
import { type SessionResource, session } from './resources/session.ts';
import { type Spaces, spaces } from './resources/spaces.ts';
import { type StatusResource, status } from './resources/status.ts';
import { type Tools, tools } from './resources/tools.ts';
import { type UsageResource, usage } from './resources/usage.ts';

interface OtherRequest extends RequestOptions {
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** A gateway, as a program uses it: one group for each resource. */
export interface Client {
  readonly agents: Agents;
  readonly artifacts: Artifacts;
  readonly audit: Audit;
  readonly chat: Chat;
  readonly conversations: Conversations;
  readonly entities: Entities;
  readonly erasures: Erasures;
  readonly evaluations: Evaluations;
  readonly jobs: Jobs;
  readonly keys: Keys;
  readonly links: Links;
  readonly mcp: Mcp;
  readonly models: Models;
  readonly notifications: Notifications;
  readonly pending: Pending;
  readonly grants: Grants;
  readonly search: SearchTexts;
  readonly projects: Projects;
  readonly runs: Runs;
  readonly session: SessionResource;
  readonly spaces: Spaces;
  readonly status: StatusResource;
  readonly tools: Tools;
  readonly home: HomeResource;
  readonly usage: UsageResource;
  /**
   * Sends a request that has no method here, e.g. `request('GET /api/things')`: of a newer gateway, or of the demo. It is sent once.
   * `query` values are written as text.
   */
  request(operation: `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`, sent?: OtherRequest): Promise<unknown>;
  /** The gateway's time, in milliseconds since the epoch: what is left of a call's time is counted by it. */
  now(): number;
}

/**
 * A client of one gateway. It repeats by itself what is safe to repeat: reading, a message, a chat request, an event and an answer
 * (all of which have an id that counts once), and whatever the gateway refused with the request to come back.
 */
export function createClient(options: ClientOptions): Client {
  const connection = connect(options);
  return {
    agents: agents(connection),
    artifacts: artifacts(connection),
    audit: audit(connection),
    chat: chat(connection),
    conversations: conversations(connection),
    entities: entities(connection),
    erasures: erasures(connection),
    evaluations: evaluations(connection),
    jobs: jobs(connection),
    keys: keys(connection),
    links: links(connection),
    mcp: mcp(connection),
    models: models(connection),
    notifications: notifications(connection),
    pending: pending(connection),
    grants: grants(connection),
    search: search(connection),
    projects: projects(connection),
    runs: runs(connection),
    session: session(connection),
    spaces: spaces(connection),
    status: status(connection),
    tools: tools(connection),
    home: home(connection),
    usage: usage(connection),
    request: (operation, sent) => connection.call(operation as never, { ...sent, isSentOnce: true } as never),
    now: () => connection.clock.now(),
  };
}
